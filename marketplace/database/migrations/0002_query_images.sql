-- What Python has drawn for an answer, under the hash of its bytes, as base64.
CREATE TABLE query_images (
  hash TEXT PRIMARY KEY,
  body TEXT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX query_images_by_expiry ON query_images (expires_at);
