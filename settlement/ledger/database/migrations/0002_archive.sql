-- Archive: what is final and old leaves these tables for compressed files, a block of rows per commit.

-- One row per file, by number. Rows of the ledger leave block by block, in the order of the file, and each commit notes how far
-- it got: a file is all written before its first block leaves, so that whoever goes on after a crash finds every block either
-- here or there, and never in both. `restoring` goes the other way, from the last block to the first. The sums are those of the
-- blocks that have left; `audit` adds them to what is still here.
CREATE TABLE archives (
  number INTEGER PRIMARY KEY,
  state TEXT NOT NULL CHECK (state IN ('moving', 'archived', 'restoring')),
  -- Its name has the beginning of its checksum, so that no file is ever written over another one.
  file TEXT NOT NULL,
  checksum TEXT NOT NULL,
  bytes BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  -- When its charges were accrued: from the first to the last.
  from_at BIGINT,
  to_at BIGINT,
  blocks INTEGER NOT NULL,
  moved INTEGER NOT NULL CHECK (moved >= 0 AND moved <= blocks),
  charges BIGINT NOT NULL,
  accrued BIGINT NOT NULL,
  settled BIGINT NOT NULL,
  absorbed BIGINT NOT NULL,
  refused BIGINT NOT NULL,
  voided BIGINT NOT NULL,
  -- How often payers could not pay for what is in it.
  failures BIGINT NOT NULL
);
CREATE INDEX archives_unfinished ON archives (number) WHERE state <> 'archived';
CREATE INDEX archives_times ON archives (to_at);

-- Which block of which file has what was called by a name: a turn, a call, a charge or a batch. A name is 64 bits of a hash, so a
-- row is all that stays of a delivery, and it stays: the same delivery is known again however late it is repeated. Two names
-- may have one fingerprint; the file tells. `place` is the file's number and, in its last six digits, the block's.
CREATE TABLE archived_names (
  fingerprint BIGINT NOT NULL,
  place BIGINT NOT NULL,
  PRIMARY KEY (fingerprint, place)
) /* WITHOUT ROWID */;

-- What of `settled` has left with its charges.
ALTER TABLE payers ADD COLUMN archived BIGINT NOT NULL DEFAULT 0;

-- What captured calls of the session come to that have left.
ALTER TABLE sessions ADD COLUMN archived BIGINT NOT NULL DEFAULT 0;

-- 1 once its receipts, its calldata and its signed bytes have left.
ALTER TABLE batches ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
CREATE INDEX batches_unarchived ON batches (final_at, batch_id) WHERE archived = 0 AND final_at IS NOT NULL;

-- Calls and turns without a charge to leave with. Few, so that the others do not pay for these.
CREATE INDEX holds_voided ON holds (held_at, call_id) WHERE state = 'voided';
CREATE INDEX holds_free ON holds (held_at, call_id) WHERE amount = 0;
CREATE INDEX turns_free ON turns (recorded_at, id) WHERE charge_ids = '';

-- How often payers could not pay, by reason: kept like totals, so that it takes the same time however often they could not.
CREATE TABLE failure_counts (
  reason TEXT NOT NULL,
  shard INTEGER NOT NULL,
  failures BIGINT NOT NULL,
  PRIMARY KEY (reason, shard)
);
INSERT INTO failure_counts (reason, shard, failures) SELECT reason, 0, COUNT(*) FROM failures GROUP BY reason;

-- Answers are forgotten once they are old. What was done under their keys is known by its own name.
CREATE INDEX answers_asked ON answers (asked_at);
