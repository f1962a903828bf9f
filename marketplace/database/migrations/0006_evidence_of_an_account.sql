-- Whoever was answered something else than was promised asks for what was kept of it.
CREATE INDEX evidence_of_account ON evidence (account, at);
