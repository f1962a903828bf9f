-- How many sessions of a payer are open is asked with each new one.
CREATE INDEX sessions_open_of ON sessions (payer, expires_at) WHERE status = 'open';
-- Sessions that ended without a call are forgotten. One that holds its only call before it is closed never gets in here.
CREATE INDEX sessions_unused ON sessions (expires_at) WHERE method_price IS NULL AND status <> 'open';

-- Without a reference to `sessions`: for every session that leaves it would look through all calls, or each call would pay for an index
-- of sessions. A call is held in a session that was read and locked in the same transaction, and a session that has had a call stays.
CREATE TABLE holds_moved (
  call_id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL,
  payer TEXT NOT NULL,
  budget_id TEXT,
  tool_id TEXT NOT NULL,
  method TEXT NOT NULL,
  amount BIGINT NOT NULL,
  held_at BIGINT NOT NULL,
  captured_at BIGINT,
  state TEXT NOT NULL CHECK (state IN ('held', 'captured', 'voided'))
);
INSERT INTO holds_moved (call_id, session_id, payer, budget_id, tool_id, method, amount, held_at, captured_at, state)
  SELECT call_id, session_id, payer, budget_id, tool_id, method, amount, held_at, captured_at, state FROM holds;
DROP TABLE holds;
ALTER TABLE holds_moved RENAME TO holds;
CREATE INDEX holds_held ON holds (held_at) WHERE state = 'held';
CREATE INDEX holds_voided ON holds (held_at, call_id) WHERE state = 'voided';
CREATE INDEX holds_free ON holds (held_at, call_id) WHERE amount = 0;
