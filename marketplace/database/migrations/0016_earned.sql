-- Money makes a tool's name and not the number of calls, which may cost next to nothing each: what a wallet has paid for a tool, and of all
-- that as much of each wallet's as counts.
ALTER TABLE tool_payers ADD COLUMN spent BIGINT NOT NULL DEFAULT 0;
ALTER TABLE listings ADD COLUMN earned BIGINT NOT NULL DEFAULT 0;
