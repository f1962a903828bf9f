-- Answers and pictures take room as well as data does. What was kept before is forgotten with its week.
ALTER TABLE query_jobs ADD COLUMN size BIGINT NOT NULL DEFAULT 0;
CREATE INDEX query_jobs_kept ON query_jobs (account, completed_at) WHERE size > 0;

-- For whom a picture is kept: the same one may be in the answers of several.
CREATE TABLE query_image_owners (
  hash TEXT NOT NULL,
  account TEXT NOT NULL,
  size BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (hash, account)
);
CREATE INDEX query_image_owners_kept ON query_image_owners (account, expires_at);
CREATE INDEX query_image_owners_by_expiry ON query_image_owners (expires_at);
