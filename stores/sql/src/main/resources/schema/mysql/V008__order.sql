-- Rows with one order key are delivered one after the other, in the order of their ids. Null: in no order, or written by an older release.
-- One statement adds both or nothing. As in V006: look first, for the case that an earlier run ended here.
SET @onlyonce_v008 = IF((
    SELECT count(*) FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'onlyonce_outbox' AND column_name = 'order_key') = 0,
    'ALTER TABLE onlyonce_outbox ADD COLUMN order_key VARBINARY(1020), ADD INDEX onlyonce_outbox_order (tenant, topic, order_key, id)',
    'DO 0');
PREPARE onlyonce_v008 FROM @onlyonce_v008;
EXECUTE onlyonce_v008;
DEALLOCATE PREPARE onlyonce_v008;

INSERT INTO onlyonce_schema (version) VALUES (8);
