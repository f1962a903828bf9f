-- What the daemon remembers of its callers, and what statements are read from.

-- A key is kept as the SHA-256 of its text. It has 256 bits of chance, so nothing can be learned from the hash, and no salt
-- is needed.
CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  payer TEXT NOT NULL,
  label TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  revoked_at BIGINT
);
CREATE INDEX api_keys_payer ON api_keys (payer);

-- One row per Idempotency-Key of a caller, for ever. The digest is that of the request; status and body are NULL until it
-- was answered. A crash in between is harmless: the request is done again under ids that follow from the key.
CREATE TABLE answers (
  caller TEXT NOT NULL,
  key TEXT NOT NULL,
  digest TEXT NOT NULL,
  status INTEGER,
  body TEXT,
  asked_at BIGINT NOT NULL,
  PRIMARY KEY (caller, key)
);

-- What a tool's payee was credited by a final batch.
CREATE TABLE earnings (
  payee TEXT NOT NULL,
  settled_at BIGINT NOT NULL,
  root TEXT NOT NULL REFERENCES batches (root),
  tool_id TEXT NOT NULL,
  amount BIGINT NOT NULL,
  developer_share BIGINT NOT NULL,
  PRIMARY KEY (root, tool_id)
);
CREATE INDEX earnings_payee ON earnings (payee, settled_at, root, tool_id);
CREATE INDEX earnings_tool ON earnings (tool_id);

CREATE INDEX charges_payer ON charges (payer, accrued_at, id);
CREATE INDEX sessions_payer ON sessions (payer, opened_at, id);
