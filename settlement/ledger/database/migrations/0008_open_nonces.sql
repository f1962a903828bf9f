-- 1 while a batch is final by another transaction than its own, a peer's, and nobody knows yet what has spent its nonce: its own bytes,
-- which revert, or something else of somebody who has the key.
ALTER TABLE submissions ADD COLUMN nonce_open INTEGER NOT NULL DEFAULT 0;
CREATE INDEX submissions_nonce_open ON submissions (operator) WHERE nonce_open = 1;
