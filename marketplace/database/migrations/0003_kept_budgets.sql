-- What an account has signed last, to be brought along where a request brings nothing and its wallet demands consent.
CREATE TABLE kept_budgets (
  account TEXT PRIMARY KEY REFERENCES accounts (wallet),
  -- As JSON, with its signature, as the daemon takes it.
  signed TEXT NOT NULL
);
