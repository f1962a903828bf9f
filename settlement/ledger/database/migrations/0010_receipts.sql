-- A batch's receipts are more than all else that is known of it, and SQLite writes all of a row when some of it changes: what came of a
-- batch of thousands, told once when it is mined and once when it is final, took as many pages each time as the receipts themselves.
-- The charges that the batch was built of, whatever became of them later, and their leaves: 64 digits each, in turns. None once they are
-- archived.
CREATE TABLE receipts (
  batch_id TEXT PRIMARY KEY REFERENCES batches (batch_id),
  receipts TEXT NOT NULL
);
INSERT INTO receipts (batch_id, receipts) SELECT batch_id, receipts FROM batches WHERE receipts <> '';
ALTER TABLE batches DROP COLUMN receipts;

-- Of hashes and addresses their beginnings find as much: each entry was the whole of them, and a batch writes an entry for each charge.
DROP INDEX charges_batch;
CREATE INDEX charges_batch ON charges (substr(batch_id, 3, 8)) WHERE batch_id IS NOT NULL;
DROP INDEX charges_payer;
CREATE INDEX charges_payer ON charges (substr(payer, 3, 8), accrued_at) WHERE state <> 'accrued';
