-- What the request was made for, for operators: never compared. Adding the column takes an instant, however large the table is.
-- The checks of V005 go: PostgreSQL parses them again at each execution of a statement, a fifth of what a claim or a settlement
-- costs. Onlyonce checks the same before it writes and when it reads. As in V005, it is this script that gives way.
SET LOCAL lock_timeout = '800ms';
ALTER TABLE onlyonce_entry
    ADD COLUMN target text, -- method and path, at most 512 bytes; null: not said, or written by an older release
    DROP CONSTRAINT IF EXISTS onlyonce_entry_state,
    DROP CONSTRAINT IF EXISTS onlyonce_entry_length;

INSERT INTO onlyonce_schema (version) VALUES (7);
