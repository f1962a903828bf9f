-- How much room kept answers take, so that no account fills the disk. What was kept before is forgotten with its week.
ALTER TABLE executions ADD COLUMN size BIGINT NOT NULL DEFAULT 0;
CREATE INDEX executions_kept ON executions (account, answered_at) WHERE size > 0;
ALTER TABLE query_data ADD COLUMN account TEXT NOT NULL DEFAULT '';
ALTER TABLE query_data ADD COLUMN size BIGINT NOT NULL DEFAULT 0;
CREATE INDEX query_data_kept ON query_data (account, expires_at);
