-- What models have cost for questions of an account that nobody paid for, by day since 1970.
CREATE TABLE unpaid_model_costs (
  account TEXT NOT NULL,
  day BIGINT NOT NULL,
  amount BIGINT NOT NULL,
  PRIMARY KEY (account, day)
);
CREATE INDEX unpaid_model_costs_by_day ON unpaid_model_costs (day);
