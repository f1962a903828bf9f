-- One set of tables for SQLite and PostgreSQL, in the types that both have: TEXT, BIGINT and INTEGER.
-- Money is BIGINT micro-USDC. Times are BIGINT milliseconds since 1970. Hashes, ids and addresses are TEXT in lower case,
-- so that equal means equal. A hash of zeros is NULL.

-- What is owed and reserved, per payer. Each is a sum over other tables that is kept in the same transaction as they are;
-- `audit` computes them again. None is ever below zero; a CHECK cannot say so, because it would also look at the
-- change that is offered to ON CONFLICT.
--   pending  what the payer owes and the chain has not taken: charges with charged_to = payer that are accrued, or in a
--            batch that is not mined with success, or in a row of such a batch that could not be charged. A line that the
--            chain refused is not pending: nobody will be charged for it.
--   held     reserved by calls that run: holds that are held.
--   debt     what the platform took over: charges with charged_to other than the payer, unless they were refused by the
--            chain or cleared since. They never count as pending, neither for the payer nor for the insurance account.
CREATE TABLE payers (
  payer TEXT PRIMARY KEY,
  pending BIGINT NOT NULL,
  held BIGINT NOT NULL,
  debt BIGINT NOT NULL
);

-- A turn is kept as the digest of what was reported, to tell the same report from another one under the same id.
CREATE TABLE turns (
  id TEXT PRIMARY KEY,
  digest TEXT NOT NULL,
  -- The charges that the turn made, separated by spaces.
  charge_ids TEXT NOT NULL,
  recorded_at BIGINT NOT NULL
);

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  payer TEXT NOT NULL,
  max_spend BIGINT NOT NULL,
  spent BIGINT NOT NULL CHECK (spent >= 0),
  held BIGINT NOT NULL CHECK (held >= 0),
  status TEXT NOT NULL CHECK (status IN ('open', 'closed', 'expired')),
  close_requested INTEGER NOT NULL,
  opened_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  method_price BIGINT,
  -- Charges that were captured and not yet handed to settlement, and since when there are any.
  waiting_count INTEGER NOT NULL CHECK (waiting_count >= 0),
  waiting_amount BIGINT NOT NULL CHECK (waiting_amount >= 0),
  waiting_since BIGINT,
  CHECK (spent + held <= max_spend)
);
CREATE INDEX sessions_open ON sessions (expires_at) WHERE status = 'open';
CREATE INDEX sessions_waiting ON sessions (waiting_since) WHERE waiting_since IS NOT NULL;

CREATE TABLE holds (
  call_id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions (id),
  payer TEXT NOT NULL,
  tool_id TEXT NOT NULL,
  method TEXT NOT NULL,
  amount BIGINT NOT NULL,
  held_at BIGINT NOT NULL,
  captured_at BIGINT,
  state TEXT NOT NULL CHECK (state IN ('held', 'captured', 'voided'))
);
CREATE INDEX holds_held ON holds (held_at) WHERE state = 'held';

-- `batched` covers three states of the domain; the submission of the batch tells them apart.
-- Ids are hashes, all over the place, and a commit costs as much as the pages that it touches. So an accrual is written in
-- the order of time only, and gets into an index of ids when its batch is planned, together with thousands of others.
-- That no two charges have one id follows from `turns` and `holds`, after which they are named.
CREATE TABLE charges (
  id TEXT NOT NULL,
  turn_id TEXT,
  session_id TEXT,
  call_id TEXT,
  -- NULL is the model.
  tool_id TEXT,
  calls INTEGER NOT NULL,
  payer TEXT NOT NULL,
  charged_to TEXT NOT NULL,
  amount BIGINT NOT NULL CHECK (amount > 0),
  request_hash TEXT,
  response_hash TEXT,
  schema_hash TEXT,
  accrued_at BIGINT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  state TEXT NOT NULL CHECK (state IN ('accrued', 'batched', 'final', 'absorbed', 'refused', 'voided')),
  due_at BIGINT NOT NULL,
  root TEXT,
  -- 1 while a session's charge waits to be handed to settlement, and is counted by its session.
  waiting INTEGER NOT NULL,
  -- 1 once the payer made good what the platform took over.
  cleared INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (accrued_at, id)
);
CREATE UNIQUE INDEX charges_id ON charges (id) WHERE state <> 'accrued';
-- Every charge that is due, longest waiting first, with all that is needed to choose among accounts.
CREATE INDEX charges_due ON charges (due_at, charged_to, amount, id) WHERE state = 'accrued';
CREATE INDEX charges_waiting ON charges (session_id) WHERE waiting = 1;
CREATE INDEX charges_debt ON charges (payer) WHERE charged_to <> payer;

-- Each time that a payer could not pay.
CREATE TABLE failures (
  charge_id TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  reason TEXT NOT NULL,
  failed_at BIGINT NOT NULL
);
CREATE INDEX failures_charge ON failures (charge_id);

-- One row per operator key. Whoever writes for it locks the row and compares the token.
CREATE TABLE operators (
  operator TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  token BIGINT NOT NULL,
  until_at BIGINT NOT NULL,
  next_nonce BIGINT NOT NULL
);

CREATE TABLE submissions (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('settle', 'payout', 'fill')),
  operator TEXT NOT NULL REFERENCES operators (operator),
  nonce BIGINT,
  recipient TEXT NOT NULL,
  calldata TEXT NOT NULL,
  gas_limit BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('planned', 'submitted', 'included', 'reverted', 'final', 'released')),
  tx_hash TEXT,
  block_number BIGINT,
  block_hash TEXT
);
CREATE UNIQUE INDEX submissions_nonce ON submissions (operator, nonce) WHERE nonce IS NOT NULL;
CREATE INDEX submissions_open ON submissions (operator) WHERE state NOT IN ('final', 'released');

-- Signed bytes, oldest first by position. They belong to a nonce: when released charges make the same batch again, it gets
-- another nonce, and the bytes of the old one stay as history.
CREATE TABLE broadcasts (
  tx_hash TEXT PRIMARY KEY,
  submission_id TEXT NOT NULL REFERENCES submissions (id),
  nonce BIGINT NOT NULL,
  position INTEGER NOT NULL,
  raw TEXT NOT NULL,
  -- Fees are kept as text: they are 256-bit numbers.
  max_fee_per_gas TEXT NOT NULL,
  max_priority_fee_per_gas TEXT NOT NULL,
  signed_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX broadcasts_position ON broadcasts (submission_id, nonce, position);

-- A batch as it was built; its submission has the same id.
CREATE TABLE batches (
  root TEXT PRIMARY KEY REFERENCES submissions (id),
  row_count INTEGER NOT NULL,
  charge_count INTEGER NOT NULL,
  total BIGINT NOT NULL,
  -- What the logs of its transaction say, as JSON, while it is mined with success.
  outcome TEXT,
  created_at BIGINT NOT NULL
);
CREATE INDEX batches_newest ON batches (created_at);

CREATE TABLE receipts (
  root TEXT NOT NULL REFERENCES batches (root),
  position INTEGER NOT NULL,
  charge_id TEXT NOT NULL,
  leaf TEXT NOT NULL,
  PRIMARY KEY (root, position)
);

-- Everybody whom a final batch has credited, for pushing payouts.
CREATE TABLE payees (
  payee TEXT PRIMARY KEY
);

-- At most one row: why nobody may submit.
CREATE TABLE halts (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  reason TEXT NOT NULL,
  since_at BIGINT NOT NULL
);
