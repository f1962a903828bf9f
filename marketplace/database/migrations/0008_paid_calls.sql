-- What a tool's name rests on: who paid for its calls, and how often, and how often what they would have paid for failed.
CREATE TABLE tool_payers (
  tool_id TEXT NOT NULL,
  account TEXT NOT NULL,
  paid BIGINT NOT NULL,
  failed BIGINT NOT NULL,
  PRIMARY KEY (tool_id, account)
);
ALTER TABLE listings ADD COLUMN paid_calls BIGINT NOT NULL DEFAULT 0;
-- Of one account no more than it has paid for, and one.
ALTER TABLE listings ADD COLUMN failed_calls BIGINT NOT NULL DEFAULT 0;
ALTER TABLE listings ADD COLUMN payers BIGINT NOT NULL DEFAULT 0;
