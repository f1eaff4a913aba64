-- For tests: what a next release may do.
ALTER TABLE onlyonce_entry ADD COLUMN IF NOT EXISTS note BINARY VARYING(100);

INSERT INTO onlyonce_schema (version) VALUES (2);
