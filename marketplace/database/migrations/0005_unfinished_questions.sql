-- An account's questions that are not answered yet are counted with each new one: not among all that it ever asked.
CREATE INDEX query_jobs_unfinished_of_account ON query_jobs (account) WHERE status IN ('queued', 'running');
