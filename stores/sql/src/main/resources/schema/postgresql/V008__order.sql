-- Rows with one order key are delivered one after the other, in the order of their ids. Adding the column takes an instant, and the index
-- is empty: rows that are there have no order. As in V005, it is this script that gives way.
SET LOCAL lock_timeout = '800ms';
ALTER TABLE onlyonce_outbox
    ADD COLUMN order_key text COLLATE "C"; -- null: in no order, or written by an older release
CREATE INDEX onlyonce_outbox_order ON onlyonce_outbox (tenant, topic, order_key, id) WHERE order_key IS NOT NULL;

INSERT INTO onlyonce_schema (version) VALUES (8);
