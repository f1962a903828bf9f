-- Whether the call was paid for. What cost nothing is the first to go where room is short, and is counted: nobody fills the disk for free.
ALTER TABLE executions ADD COLUMN charged INTEGER NOT NULL DEFAULT 0;
CREATE INDEX executions_oldest ON executions (charged, answered_at, size) WHERE size > 0;
CREATE INDEX executions_free ON executions (account, lapses_at) WHERE charged = 0;
-- Whether the account was ever charged for anything.
ALTER TABLE accounts ADD COLUMN has_paid INTEGER NOT NULL DEFAULT 0;
UPDATE accounts SET has_paid = 1 WHERE wallet IN (SELECT account FROM tool_payers WHERE paid > 0);
