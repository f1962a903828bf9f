-- Evidence is forgotten by its age, of tools too that nobody calls any more.
CREATE INDEX evidence_by_age ON evidence (at);
