-- Since when a listing is short of stake; null while it is not. Of those that are short by now nobody knows: since the last time that is
-- known here, which is when some server is pinged next.
ALTER TABLE listings ADD COLUMN short_since BIGINT;
UPDATE listings SET short_since = (SELECT MAX(next_ping_at) FROM listings) WHERE stake < required_stake;
-- A path in capitals leads to the same server, also for what was listed before.
UPDATE listings SET server = LOWER(server);
