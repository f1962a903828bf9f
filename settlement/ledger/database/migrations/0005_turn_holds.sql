-- What a question may cost at the most, reserved of its payer's money from its acceptance until its turn is recorded, given up or too
-- old. Written by whoever holds the row of the payer.
CREATE TABLE turn_holds (
  turn_id TEXT PRIMARY KEY,
  payer TEXT NOT NULL,
  budget_id TEXT,
  amount BIGINT NOT NULL CHECK (amount > 0),
  held_at BIGINT NOT NULL
);
CREATE INDEX turn_holds_held ON turn_holds (held_at);
