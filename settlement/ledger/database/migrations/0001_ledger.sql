-- One set of tables for SQLite and PostgreSQL, in the types that both have: TEXT, BIGINT and INTEGER.
-- Money is BIGINT micro-USDC. Times are BIGINT milliseconds since 1970. Hashes, ids and addresses are TEXT in lower case,
-- so that equal means equal. A hash of zeros is NULL.

-- Accruals: what payers owe.

-- What is owed and reserved, per payer. Each is a sum over other tables that is kept in the same transaction as they are;
-- `audit` computes them again. None is ever below zero; a CHECK cannot say so, because it would also look at the
-- change that is offered to ON CONFLICT.
--   pending  what the payer owes and the chain has not taken: charges with charged_to = payer that are accrued, or in a
--            batch that is not mined with success, or in a row of such a batch that could not be charged. A line that the
--            chain refused is not pending: nobody will be charged for it.
--   held     reserved by calls that run: holds that are held.
--   owed     what of pending the platform does not take over, because the tool's stake does not answer for so much.
--   debt     what the platform took over: charges with charged_to other than the payer, unless they were refused by the
--            chain or cleared since. They never count as pending, neither for the payer nor for the insurance account.
--   settled  what the payer has paid for good: its credit grows with it.
CREATE TABLE payers (
  payer TEXT PRIMARY KEY,
  pending BIGINT NOT NULL,
  held BIGINT NOT NULL,
  owed BIGINT NOT NULL DEFAULT 0,
  debt BIGINT NOT NULL,
  settled BIGINT NOT NULL DEFAULT 0,
  -- The newest block in which something was taken that is no longer pending. What was read of the chain before it says
  -- too much about what the payer can still spend.
  taken_at_block BIGINT NOT NULL
);
-- Few owe the platform anything, so that accruals do not pay for this.
CREATE INDEX payers_debt ON payers (debt) WHERE debt > 0;
CREATE INDEX payers_owed ON payers (payer) WHERE owed > 0;

-- What payers have signed. A budget is cumulative: of each, the signature with the highest limit is kept, and no other. `held` and `pending` are those parts of the payer's sums that draw on it, and `taken` is what batches have taken
-- of it on chain, final or not. They are written by whoever holds the row of the payer.
CREATE TABLE budgets (
  payer TEXT NOT NULL,
  -- A number of 64 bits in decimal digits, which BIGINT has no room for.
  id TEXT NOT NULL,
  max_spend BIGINT NOT NULL,
  -- In seconds, as it was signed.
  valid_until BIGINT NOT NULL,
  -- As they were signed, separated by spaces; none for all tools.
  tools TEXT NOT NULL,
  signature TEXT NOT NULL,
  signed_at BIGINT NOT NULL,
  held BIGINT NOT NULL DEFAULT 0,
  pending BIGINT NOT NULL DEFAULT 0,
  taken BIGINT NOT NULL DEFAULT 0,
  -- What of `taken` has left with its charges for the archive.
  archived BIGINT NOT NULL DEFAULT 0,
  -- The highest limit that a final batch has brought to the chain: until then each batch brings the signature.
  carried BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (payer, id)
);
CREATE INDEX budgets_pending ON budgets (payer) WHERE pending > 0;
CREATE INDEX budgets_newest ON budgets (payer, signed_at, id);

-- A turn is kept as the digest of what was reported, to tell the same report from another one under the same id.
CREATE TABLE turns (
  id TEXT PRIMARY KEY,
  digest TEXT NOT NULL,
  -- The charges that the turn made, separated by spaces.
  charge_ids TEXT NOT NULL,
  recorded_at BIGINT NOT NULL
);

-- `batched` covers everything that becomes of a charge in its batch, to the end: the submission of the batch tells, and of
-- thousands of charges none is written again when their batch is mined or final.
-- Ids are hashes, all over the place, and a commit costs as much as the pages that it touches. So an accrual is written in
-- the order of time only, and gets into an index of ids when its batch is planned, together with thousands of others.
-- That no two charges have one id follows from `turns` and `holds`, after which they are named. So the index has the beginnings
-- of ids alone: it is as good to find one, and a batch touches a third of the pages.
CREATE TABLE charges (
  id TEXT NOT NULL,
  turn_id TEXT,
  session_id TEXT,
  call_id TEXT,
  -- NULL is the model.
  tool_id TEXT,
  calls INTEGER NOT NULL,
  payer TEXT NOT NULL,
  -- The payer's budget that it draws on; NULL for none. Whoever else is charged for it draws on no budget.
  budget_id TEXT,
  charged_to TEXT NOT NULL,
  amount BIGINT NOT NULL CHECK (amount > 0),
  request_hash TEXT,
  response_hash TEXT,
  schema_hash TEXT,
  accrued_at BIGINT NOT NULL,
  -- How often it was tried in vain, and how many of these times for the tool's sake and not for the payer's.
  attempts INTEGER NOT NULL DEFAULT 0,
  deferrals INTEGER NOT NULL DEFAULT 0,
  state TEXT NOT NULL CHECK (state IN ('accrued', 'batched', 'refused', 'voided')),
  due_at BIGINT NOT NULL,
  batch_id TEXT,
  -- 1 while a session's charge waits to be handed to settlement, and is counted by its session.
  waiting INTEGER NOT NULL,
  -- 1 once the payer repaid what the platform took over.
  cleared INTEGER NOT NULL DEFAULT 0,
  -- 1 once the payer could not pay and the platform does not: it is the payer's debt to the tool's developer until it is paid.
  owed INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (accrued_at, id)
);
CREATE INDEX charges_id ON charges (substr(id, 3, 12)) WHERE state <> 'accrued';
CREATE INDEX charges_batch ON charges (batch_id) WHERE batch_id IS NOT NULL;
-- Likewise of the beginnings of addresses.
CREATE INDEX charges_due ON charges (substr(charged_to, 3, 8), due_at) WHERE state = 'accrued';
-- Few fail, so that accruals do not pay for this.
CREATE INDEX charges_failed ON charges (charged_to) WHERE state = 'accrued' AND attempts > 0;
CREATE INDEX charges_waiting ON charges (session_id) WHERE waiting = 1;
CREATE INDEX charges_debt ON charges (payer) WHERE charged_to <> payer;
CREATE INDEX charges_payer ON charges (payer, accrued_at);

-- What waits for a batch, per account that is to be charged: sums over charges that are accrued, and when the first of them is
-- due. Kept like those of payers, so that choosing among accounts takes the same time however many charges wait.
CREATE TABLE due_accounts (
  account TEXT PRIMARY KEY,
  charges BIGINT NOT NULL,
  amount BIGINT NOT NULL,
  -- NULL if none waits.
  due_at BIGINT
);
CREATE INDEX due_accounts_next ON due_accounts (due_at, account) WHERE due_at IS NOT NULL;

-- Each time that a payer could not pay.
CREATE TABLE failures (
  charge_id TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  reason TEXT NOT NULL,
  failed_at BIGINT NOT NULL
);
CREATE INDEX failures_charge ON failures (charge_id);

-- What the platform took over for each tool in the newest four periods of 8 hours, newest first, and which period that is.
-- Whoever takes something over locks the tool's row.
CREATE TABLE absorptions (
  tool_id TEXT PRIMARY KEY,
  period BIGINT NOT NULL,
  newest BIGINT NOT NULL,
  second BIGINT NOT NULL,
  third BIGINT NOT NULL,
  fourth BIGINT NOT NULL
);

-- Sessions: budgets, and what calls have reserved of them.

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  payer TEXT NOT NULL,
  -- The payer's budget that its calls draw on, unless they bring another one.
  budget_id TEXT,
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
CREATE INDEX sessions_waiting_of ON sessions (payer) WHERE waiting_since IS NOT NULL;
CREATE INDEX sessions_payer ON sessions (payer, opened_at, id);
CREATE INDEX sessions_newest ON sessions (opened_at, id);

CREATE TABLE holds (
  call_id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions (id),
  payer TEXT NOT NULL,
  budget_id TEXT,
  tool_id TEXT NOT NULL,
  method TEXT NOT NULL,
  amount BIGINT NOT NULL,
  held_at BIGINT NOT NULL,
  captured_at BIGINT,
  state TEXT NOT NULL CHECK (state IN ('held', 'captured', 'voided'))
);
CREATE INDEX holds_held ON holds (held_at) WHERE state = 'held';

-- Operators: who may write for a key, and whether anybody may.

-- One row per operator key. Whoever writes for it locks the row and compares the token.
CREATE TABLE operators (
  operator TEXT PRIMARY KEY,
  -- Empty while nobody has the lease.
  holder TEXT NOT NULL,
  token BIGINT NOT NULL,
  until_at BIGINT NOT NULL,
  next_nonce BIGINT NOT NULL,
  -- After a restore: nonces below it must be spent for good before anything is planned, because bytes that this ledger has
  -- forgotten may be waiting on them. Zero for none, below zero until the chain has been asked how far that is.
  fence BIGINT NOT NULL,
  -- The most rows of a batch, after one ran out of gas; NULL for no such bound.
  row_bound BIGINT
);

-- At most one row: where this ledger was when it was last written, and whether it has ever been somewhere else. It differs
-- after a restore and after a failover.
CREATE TABLE homes (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  home TEXT NOT NULL,
  moved INTEGER NOT NULL CHECK (moved IN (0, 1))
);

-- At most one row: why nobody may submit, NULL once that is lifted, and how often a halt was lifted.
CREATE TABLE halts (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  reason TEXT,
  since_at BIGINT NOT NULL,
  lifted BIGINT NOT NULL
);

-- At most one row: the newest block that the chain has called final and up to which every batch of our keys is known. Kept
-- here and not in memory, so that a chain that undoes it while no daemon runs is noticed.
CREATE TABLE finalized_blocks (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  number BIGINT NOT NULL,
  hash TEXT NOT NULL
);

-- Submissions: from due charges to final ones.

CREATE TABLE submissions (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('settle', 'payout', 'filler', 'answer')),
  operator TEXT NOT NULL REFERENCES operators (operator),
  nonce BIGINT,
  recipient TEXT NOT NULL,
  gas_limit BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('planned', 'submitted', 'included', 'reverted', 'final', 'abandoned')),
  -- Where it was mined, while it is.
  tx_hash TEXT,
  block_number BIGINT,
  block_hash TEXT,
  gas_used BIGINT,
  -- Last, because it is long: whoever asks for the others does not read past it.
  calldata TEXT NOT NULL
);
CREATE UNIQUE INDEX submissions_nonce ON submissions (operator, nonce) WHERE nonce IS NOT NULL;
CREATE INDEX submissions_open ON submissions (operator) WHERE state NOT IN ('final', 'abandoned');
CREATE INDEX submissions_unmined ON submissions (operator) WHERE state IN ('planned', 'submitted');
CREATE INDEX submissions_mined ON submissions (operator, block_number) WHERE state IN ('included', 'reverted');

-- Signed bytes, oldest first by position. They belong to a nonce: when abandoned charges make the same batch again, it gets
-- another nonce, and the bytes of the old one stay as history.
CREATE TABLE broadcasts (
  tx_hash TEXT PRIMARY KEY,
  submission_id TEXT NOT NULL REFERENCES submissions (id),
  operator TEXT NOT NULL,
  nonce BIGINT NOT NULL,
  position INTEGER NOT NULL,
  -- Fees are kept as text: they are 256-bit numbers.
  max_fee_per_gas TEXT NOT NULL,
  max_priority_fee_per_gas TEXT NOT NULL,
  signed_at BIGINT NOT NULL,
  raw TEXT NOT NULL
);
CREATE UNIQUE INDEX broadcasts_position ON broadcasts (submission_id, operator, nonce, position);

-- A batch as it was built; its submission has the same id.
CREATE TABLE batches (
  batch_id TEXT PRIMARY KEY REFERENCES submissions (id),
  row_count INTEGER NOT NULL,
  charge_count INTEGER NOT NULL,
  total BIGINT NOT NULL,
  -- What the logs of its transaction say, as JSON, while it is mined with success.
  outcome TEXT,
  created_at BIGINT NOT NULL,
  final_at BIGINT,
  -- 1 once it was taken in as the chain has it: its charges were told by account, tool and amount, and not by its receipts.
  adopted INTEGER NOT NULL DEFAULT 0 CHECK (adopted IN (0, 1)),
  -- The charges that it was built of, whatever became of them later, and their leaves: 64 digits each, in turns.
  receipts TEXT NOT NULL
);
CREATE INDEX batches_newest ON batches (created_at, batch_id);

-- What a batch that this ledger did not make has taken from an account for a tool ('' is the model), as far as no charge of
-- the ledger explains it: the ledger was restored from a copy that is older than the batch, or somebody else has the key.
-- Charges of the same account and tool are paid from it before anybody is charged again. `kept` was set against a charge
-- that it did not cover whole, and which was waived for it.
CREATE TABLE unexplained_payments (
  batch_id TEXT NOT NULL REFERENCES batches (batch_id),
  charged_to TEXT NOT NULL,
  tool_id TEXT NOT NULL,
  amount BIGINT NOT NULL CHECK (amount >= 0),
  kept BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (batch_id, charged_to, tool_id)
);
CREATE INDEX unexplained_payments_left ON unexplained_payments (charged_to) WHERE amount > 0;

-- Everybody whom a final batch has credited, for pushing payouts.
CREATE TABLE payees (
  payee TEXT PRIMARY KEY
);

-- What a tool's payee was credited by a final batch.
CREATE TABLE earnings (
  payee TEXT NOT NULL,
  settled_at BIGINT NOT NULL,
  batch_id TEXT NOT NULL REFERENCES batches (batch_id),
  tool_id TEXT NOT NULL,
  amount BIGINT NOT NULL,
  developer_share BIGINT NOT NULL,
  PRIMARY KEY (batch_id, tool_id)
);
CREATE INDEX earnings_payee ON earnings (payee, settled_at, batch_id, tool_id);
CREATE INDEX earnings_tool ON earnings (tool_id);

-- Contests: rows of our batches that somebody demands receipts for.

-- As the court has announced them. The chain says what became of each; these rows are kept so that whoever starts later knows
-- what is still to be answered. `open` until a final block shows its end: answered, or `lapsed` because nobody answered in time, or
-- `undone` with the block that it was in.
CREATE TABLE contests (
  batch_id TEXT NOT NULL,
  account TEXT NOT NULL,
  operator TEXT NOT NULL,
  contester TEXT NOT NULL,
  charged BIGINT NOT NULL,
  until_at BIGINT NOT NULL,
  -- What was charged, line by line, as JSON.
  lines TEXT NOT NULL,
  block_number BIGINT NOT NULL,
  noted_at BIGINT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'answered', 'lapsed', 'undone')),
  -- How many answers were planned, and the last of them.
  answers INTEGER NOT NULL DEFAULT 0,
  answer_id TEXT,
  PRIMARY KEY (batch_id, account)
);
CREATE INDEX contests_open ON contests (operator, until_at, batch_id, account) WHERE state = 'open';
CREATE INDEX contests_newest ON contests (noted_at, batch_id, account);

-- Stats: sums that reads need, and that would take longer with every charge.

-- Sums that are kept in the same transaction as what they are sums of; `audit` computes them again. Each daemon adds to the
-- rows of its own shard, so that two of them seldom wait for each other.
--   accrued           every charge that was made, those of failed turns included, which are voided at once
--   settled, absorbed, refused, voided    the charges that came to that end; what is left of accrued is pending
--   settled_charges   how many were settled or absorbed
--   gas_used          by their batches
--   latency_ms        from accrual to finality, added up over those charges
CREATE TABLE totals (
  shard INTEGER PRIMARY KEY,
  accrued BIGINT NOT NULL,
  settled BIGINT NOT NULL,
  absorbed BIGINT NOT NULL,
  refused BIGINT NOT NULL,
  voided BIGINT NOT NULL,
  accrued_charges BIGINT NOT NULL,
  settled_charges BIGINT NOT NULL,
  gas_used BIGINT NOT NULL,
  latency_ms BIGINT NOT NULL
);

-- The same for each ten seconds, for charts. Old rows are forgotten.
CREATE TABLE stats (
  at BIGINT NOT NULL,
  shard INTEGER NOT NULL,
  accrued BIGINT NOT NULL,
  settled BIGINT NOT NULL,
  absorbed BIGINT NOT NULL,
  refused BIGINT NOT NULL,
  voided BIGINT NOT NULL,
  accrued_charges BIGINT NOT NULL,
  settled_charges BIGINT NOT NULL,
  gas_used BIGINT NOT NULL,
  latency_ms BIGINT NOT NULL,
  PRIMARY KEY (at, shard)
);

-- Callers: what was asked under a key, and what was answered.

-- One row per Idempotency-Key of a caller, claimed at asked_at. The digest is that of the request; status and body are NULL until
-- it came to a result. A crash in between is harmless: the request is done again under ids that follow from the key.
CREATE TABLE answers (
  caller TEXT NOT NULL,
  key TEXT NOT NULL,
  digest TEXT NOT NULL,
  status INTEGER,
  body TEXT,
  asked_at BIGINT NOT NULL,
  PRIMARY KEY (caller, key)
);

-- Token: the code behind it.

-- In the order in which this service saw it. Whoever owns the token can exchange it.
CREATE TABLE token_implementations (
  position INTEGER PRIMARY KEY,
  implementation TEXT NOT NULL,
  seen_at BIGINT NOT NULL
);

-- Tools: what the platform calls them. The chain knows their ids alone.

CREATE TABLE tool_names (
  tool_id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  named_at BIGINT NOT NULL
);
