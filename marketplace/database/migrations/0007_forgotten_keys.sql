-- Keys are forgotten some weeks after their calls have ended, those too that a process left behind and nobody came back for.
CREATE INDEX executions_unanswered ON executions (lapses_at) WHERE status IS NULL;
