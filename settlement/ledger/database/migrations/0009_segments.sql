-- Ids are hashes, so that a batch of thousands touched nearly every page of the index of ids, however little of it was new: the longer
-- the history, the longer nobody else was served while those pages were written. Now a charge gets into the segment of the index that is
-- being filled when its batch is planned, and the others stay as they are. Whoever looks for an id looks into each segment.
ALTER TABLE charges ADD COLUMN segment INTEGER NOT NULL DEFAULT 0;
DROP INDEX charges_id;
CREATE INDEX charges_id ON charges (segment, substr(id, 3, 12)) WHERE state <> 'accrued';

-- Which segment the batches of an operator fill, and how many charges they have put into it. Of two operators both may fill one.
ALTER TABLE operators ADD COLUMN segment INTEGER NOT NULL DEFAULT 0;
ALTER TABLE operators ADD COLUMN segment_charges BIGINT NOT NULL DEFAULT 0;
