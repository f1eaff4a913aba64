-- States and lengths are checked by the database itself. NOT VALID: rows that exist are not read, so that each statement
-- takes an instant, however large the table is. Rows that are written from now on are checked, those of older nodes too.
-- The wait for a lock is shorter than deadlock_timeout (1 s): it is this script that gives way, never a request. It is
-- tried again, and at the next start.
SET LOCAL lock_timeout = '800ms';
ALTER TABLE onlyonce_entry
    ADD CONSTRAINT onlyonce_entry_state CHECK (state BETWEEN 1 AND 7 AND on_lease_lost BETWEEN 1 AND 3) NOT VALID,
    ADD CONSTRAINT onlyonce_entry_length CHECK (octet_length(tenant) <= 1020 AND octet_length(space) <= 1020
        AND octet_length(key_) <= 1020 AND octet_length(operation) <= 1020) NOT VALID;
ALTER TABLE onlyonce_outbox
    ADD CONSTRAINT onlyonce_outbox_state CHECK (refused IN (0, 1) AND dead IN (0, 1)) NOT VALID;
ALTER TABLE onlyonce_step
    ADD CONSTRAINT onlyonce_step_state CHECK (state BETWEEN 1 AND 3) NOT VALID;
ALTER TABLE onlyonce_audit
    ADD CONSTRAINT onlyonce_audit_state CHECK (from_state BETWEEN 1 AND 7 AND to_state BETWEEN 1 AND 7) NOT VALID;

INSERT INTO onlyonce_schema (version) VALUES (5);
