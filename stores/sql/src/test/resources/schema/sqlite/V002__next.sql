-- For tests: what a next release may do.
ALTER TABLE onlyonce_entry ADD COLUMN note TEXT;

INSERT INTO onlyonce_schema (version) VALUES (2);
