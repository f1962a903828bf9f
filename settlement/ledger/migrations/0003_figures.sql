-- Sums that are kept in the same transaction as what they are sums of, so that reading them takes no longer when there are
-- more charges; `audit` computes them again. Each daemon adds to the rows of its own shard, so that two of them seldom wait
-- for each other.
--   accrued           every charge that was made, those of failed turns included, which are voided at once
--   settled, absorbed, refused, voided    the charges that came to that end; what is left of accrued is pending
--   settled_charges   how many were settled or absorbed by batches whose gas is known
--   gas_used          by those batches
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
CREATE TABLE figures (
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

-- NULL where a batch was mined or final before this migration.
ALTER TABLE submissions ADD COLUMN gas_used BIGINT;
ALTER TABLE batches ADD COLUMN final_at BIGINT;

INSERT INTO totals (shard, accrued, settled, absorbed, refused, voided, accrued_charges, settled_charges, gas_used,
  latency_ms)
SELECT 0, CAST(COALESCE(SUM(amount), 0) AS BIGINT),
  CAST(COALESCE(SUM(CASE WHEN state = 'final' THEN amount END), 0) AS BIGINT),
  CAST(COALESCE(SUM(CASE WHEN state = 'absorbed' THEN amount END), 0) AS BIGINT),
  CAST(COALESCE(SUM(CASE WHEN state = 'refused' THEN amount END), 0) AS BIGINT),
  CAST(COALESCE(SUM(CASE WHEN state = 'voided' THEN amount END), 0) AS BIGINT),
  COUNT(*), 0, 0, 0
FROM charges;
