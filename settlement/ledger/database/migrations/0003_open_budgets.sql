-- Under which budgets of a payer something is reserved or waits: each takes a row of its own, and so a batch.
CREATE INDEX budgets_open ON budgets (payer) WHERE held > 0 OR pending > 0;
