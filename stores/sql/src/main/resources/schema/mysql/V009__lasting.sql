-- Whether a call waits for as long as it takes (1): until it is made, its entry does not expire. Null: written by an older release, and its
-- pending entry says so. As in V006: look first, for the case that an earlier run ended here.
SET @onlyonce_v009 = IF((
    SELECT count(*) FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'onlyonce_outbox' AND column_name = 'lasting') = 0,
    'ALTER TABLE onlyonce_outbox ADD COLUMN lasting SMALLINT',
    'DO 0');
PREPARE onlyonce_v009 FROM @onlyonce_v009;
EXECUTE onlyonce_v009;
DEALLOCATE PREPARE onlyonce_v009;

INSERT INTO onlyonce_schema (version) VALUES (9);
