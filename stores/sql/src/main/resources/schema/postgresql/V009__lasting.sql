-- Whether a call waits for as long as it takes: until it is made, its entry does not expire. Adding the column takes an instant.
-- As in V005, it is this script that gives way.
SET LOCAL lock_timeout = '800ms';
ALTER TABLE onlyonce_outbox
    ADD COLUMN lasting smallint; -- 1: it does; null: written by an older release, and its pending entry says so

INSERT INTO onlyonce_schema (version) VALUES (9);
