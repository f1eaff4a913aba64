-- Whether a call waits for as long as it takes: until it is made, its entry does not expire.
ALTER TABLE onlyonce_outbox ADD COLUMN lasting INTEGER; -- 1: it does; null: written by an older release, and its pending entry says so

INSERT INTO onlyonce_schema (version) VALUES (9);
