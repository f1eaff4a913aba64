-- Rows with one order key are delivered one after the other, in the order of their ids.
ALTER TABLE onlyonce_outbox
    ADD COLUMN IF NOT EXISTS order_key BINARY VARYING(1020); -- null: in no order, or written by an older release
CREATE INDEX IF NOT EXISTS onlyonce_outbox_order ON onlyonce_outbox (tenant, topic, order_key, id);

INSERT INTO onlyonce_schema (version) VALUES (8);
