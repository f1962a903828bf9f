-- A key that no process has any more, and that a person has given up while the router let it settle nothing. Nobody plans for it
-- again, and nobody waits for what is fenced off on it.
ALTER TABLE operators ADD COLUMN retired INTEGER NOT NULL DEFAULT 0 CHECK (retired IN (0, 1));
