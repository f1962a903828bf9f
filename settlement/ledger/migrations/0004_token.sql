-- The code that stood behind the token, in the order in which this service saw it. Whoever owns the token can exchange it.
CREATE TABLE token_implementations (
  position INTEGER PRIMARY KEY,
  implementation TEXT NOT NULL,
  seen_at BIGINT NOT NULL
);
