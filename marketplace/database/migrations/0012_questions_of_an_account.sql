-- An account's questions, newest first, for whoever has lost the id of one.
CREATE INDEX query_jobs_of_account ON query_jobs (account, created_at);
