-- What a marketplace knows. Times are milliseconds, money is micro-USDC, addresses are in lower case, and a tool is named by
-- its UUID. Nothing here is money: that is the settlement daemon's, which is asked for it.

-- What a wallet is asked to sign, so that a signature is good once.
CREATE TABLE nonces (
  nonce TEXT PRIMARY KEY,
  expires_at BIGINT NOT NULL
);
CREATE INDEX nonces_by_expiry ON nonces (expires_at);

-- One wallet, which is charged for what its keys buy and owns the tools that it has listed on chain.
CREATE TABLE accounts (
  wallet TEXT PRIMARY KEY,
  favorites_only INTEGER NOT NULL,
  -- The most that one answer to a question may cost, if the account says anything of it.
  max_query_cost BIGINT,
  created_at BIGINT NOT NULL
);

-- A wallet that has signed in, for as long as it takes to make and revoke keys. Secrets are kept as hashes.
CREATE TABLE logins (
  hash TEXT PRIMARY KEY,
  account TEXT NOT NULL REFERENCES accounts (wallet),
  expires_at BIGINT NOT NULL
);
CREATE INDEX logins_by_expiry ON logins (expires_at);

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  account TEXT NOT NULL REFERENCES accounts (wallet),
  name TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  revoked_at BIGINT
);
CREATE INDEX api_keys_of_account ON api_keys (account);

-- Wallets whose public data an account wants its tools to see.
CREATE TABLE linked_wallets (
  account TEXT NOT NULL REFERENCES accounts (wallet),
  wallet TEXT NOT NULL,
  linked_at BIGINT NOT NULL,
  PRIMARY KEY (account, wallet)
);

CREATE TABLE favorites (
  account TEXT NOT NULL REFERENCES accounts (wallet),
  tool_id TEXT NOT NULL,
  PRIMARY KEY (account, tool_id)
);

-- A tool: what its owner says, what its server says, what the chain says, and what became of its calls and pings.
CREATE TABLE listings (
  tool_id TEXT PRIMARY KEY,
  -- The owner's.
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  category TEXT,
  endpoint TEXT NOT NULL,
  default_execute_usd TEXT,
  execute_prices TEXT NOT NULL,
  suggested_prompts TEXT NOT NULL,
  -- The server's, cleaned.
  methods TEXT NOT NULL,
  warnings TEXT NOT NULL,
  refreshed_at BIGINT NOT NULL,
  -- The chain's, as it was read last.
  owner TEXT NOT NULL,
  price BIGINT NOT NULL,
  stake BIGINT NOT NULL,
  required_stake BIGINT NOT NULL,
  -- 'active', or 'delisted' with a reason.
  status TEXT NOT NULL,
  status_reason TEXT,
  verified INTEGER NOT NULL,
  pings BIGINT NOT NULL,
  pings_answered BIGINT NOT NULL,
  failures_in_a_row BIGINT NOT NULL,
  next_ping_at BIGINT NOT NULL,
  calls BIGINT NOT NULL,
  calls_succeeded BIGINT NOT NULL,
  registered_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  -- Grows with every change of the row, so that processes that share the database see each other's.
  revision BIGINT NOT NULL,
  UNIQUE (owner, endpoint)
);
CREATE INDEX listings_by_revision ON listings (revision);
CREATE INDEX listings_by_ping ON listings (next_ping_at);

-- The newest revision that was given out.
CREATE TABLE revisions (
  name TEXT PRIMARY KEY,
  revision BIGINT NOT NULL
);
INSERT INTO revisions (name, revision) VALUES ('listings', 0);

-- What was asked under an Idempotency-Key. A row is made before anything is sent to a tool and never removed, so that one key
-- is one call; what was answered is forgotten after some days.
CREATE TABLE executions (
  account TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  digest TEXT NOT NULL,
  call_id TEXT NOT NULL,
  -- Who works on it, and until when at the latest. Null once there is an answer.
  claim TEXT,
  holder TEXT,
  lapses_at BIGINT,
  status INTEGER,
  body TEXT,
  answered_at BIGINT,
  PRIMARY KEY (account, idempotency_key)
);
CREATE INDEX executions_of_holder ON executions (holder);
CREATE INDEX executions_by_answer ON executions (answered_at);

-- What the settlement daemon has not heard of yet because it was away: a call that was delivered, or one that failed.
CREATE TABLE unreported (
  call_id TEXT PRIMARY KEY,
  outcome TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  response_hash TEXT NOT NULL,
  schema_hash TEXT NOT NULL,
  -- The session to close afterwards, if any.
  closes TEXT,
  created_at BIGINT NOT NULL,
  due_at BIGINT NOT NULL,
  attempts BIGINT NOT NULL
);
CREATE INDEX unreported_by_time ON unreported (due_at);

-- Answers that did not match what their method promises, for whoever judges them.
CREATE TABLE evidence (
  call_id TEXT PRIMARY KEY,
  tool_id TEXT NOT NULL,
  method TEXT NOT NULL,
  account TEXT NOT NULL,
  at BIGINT NOT NULL,
  request_hash TEXT NOT NULL,
  response_hash TEXT NOT NULL,
  schema_hash TEXT NOT NULL,
  problems TEXT NOT NULL,
  -- As JSON; null if it is too large to be kept.
  request TEXT,
  response TEXT,
  output_schema TEXT NOT NULL,
  signed_answer TEXT
);
CREATE INDEX evidence_of_tool ON evidence (tool_id, at);

-- A question, from before anything is sent to a tool until long after it was answered. Its id is the attempt's and, once there
-- is something to pay, the turn's.
CREATE TABLE query_jobs (
  id TEXT PRIMARY KEY,
  account TEXT NOT NULL,
  idempotency_key TEXT,
  digest TEXT NOT NULL,
  -- The attempts that go on from each other.
  session_id TEXT NOT NULL,
  parent_id TEXT,
  root_id TEXT NOT NULL,
  mode TEXT NOT NULL,
  -- As JSON.
  request TEXT NOT NULL,
  -- 'job', or 'attached' to somebody who waits at the other end of a connection and whose departure ends it.
  origin TEXT NOT NULL,
  -- 'queued', 'running', 'completed' or 'failed'.
  status TEXT NOT NULL,
  -- Who works on it, and until when at the latest it is heard of.
  holder TEXT NOT NULL,
  lapses_at BIGINT NOT NULL,
  -- What it may cost and nobody has charged yet. Zero once the daemon has heard of it, or there is nothing to hear.
  reserved BIGINT NOT NULL,
  result TEXT,
  error TEXT,
  tools_used TEXT,
  -- What the daemon has to be told, and when next. Null once it was.
  turn TEXT,
  turn_due_at BIGINT,
  turn_attempts BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  completed_at BIGINT,
  UNIQUE (account, idempotency_key)
);
CREATE INDEX query_jobs_reserved ON query_jobs (account) WHERE reserved > 0;
CREATE INDEX query_jobs_unfinished ON query_jobs (lapses_at) WHERE status IN ('queued', 'running');
CREATE INDEX query_jobs_turns ON query_jobs (turn_due_at) WHERE turn_due_at IS NOT NULL;
CREATE INDEX query_jobs_by_end ON query_jobs (completed_at);

-- What the tools of a turn have said, at an address that nobody can guess.
CREATE TABLE query_data (
  id TEXT PRIMARY KEY,
  hash TEXT NOT NULL,
  body TEXT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX query_data_by_expiry ON query_data (expires_at);
