-- Due rows are looked up by topic: those of one that stands still must not be in the way of the others.
-- One statement does both or nothing. As in V006: look first, for the case that an earlier run ended here.
SET @onlyonce_v010 = IF((
    SELECT count(*) FROM information_schema.statistics
    WHERE table_schema = DATABASE() AND table_name = 'onlyonce_outbox' AND index_name = 'onlyonce_outbox_topic') = 0,
    'ALTER TABLE onlyonce_outbox ADD INDEX onlyonce_outbox_topic (topic, due_at), DROP INDEX onlyonce_outbox_due',
    'DO 0');
PREPARE onlyonce_v010 FROM @onlyonce_v010;
EXECUTE onlyonce_v010;
DEALLOCATE PREPARE onlyonce_v010;

INSERT INTO onlyonce_schema (version) VALUES (10);
