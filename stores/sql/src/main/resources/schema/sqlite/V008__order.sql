-- Rows with one order key are delivered one after the other, in the order of their ids.
ALTER TABLE onlyonce_outbox ADD COLUMN order_key TEXT; -- null: in no order, or written by an older release
CREATE INDEX onlyonce_outbox_order ON onlyonce_outbox (tenant, topic, order_key, id) WHERE order_key IS NOT NULL;

INSERT INTO onlyonce_schema (version) VALUES (8);
