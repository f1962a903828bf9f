-- A payer's charges are all over the index of payers, so that each accrual touched another page of it, and a commit costs as much as
-- the pages that it touches. Now a charge gets into it when its batch is planned, together with the others of its payer. What is not
-- in a batch yet is found by what is due.
DROP INDEX charges_payer;
CREATE INDEX charges_payer ON charges (payer, accrued_at) WHERE state <> 'accrued';
