-- For tests: what a next release may do. The wait for a lock is shorter than deadlock_timeout (1 s): it is this script that gives way.
SET LOCAL lock_timeout = '800ms';
ALTER TABLE onlyonce_entry ADD COLUMN note text;

INSERT INTO onlyonce_schema (version) VALUES (2);
