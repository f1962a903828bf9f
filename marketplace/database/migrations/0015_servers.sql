-- The server behind an endpoint, however its address is written: without a query, a port that goes without saying, or slashes too many.
-- What was listed before stands here as it was written, until it is registered or refreshed again.
ALTER TABLE listings ADD COLUMN server TEXT NOT NULL DEFAULT '';
UPDATE listings SET server = endpoint;
DROP INDEX listings_by_endpoint;
CREATE INDEX listings_by_server ON listings (server);
