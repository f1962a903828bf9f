-- The newest sessions of all payers, for people who watch.
CREATE INDEX sessions_newest ON sessions (opened_at, id);
