-- Due rows are looked up by topic: those of one that stands still must not be in the way of the others.
CREATE INDEX IF NOT EXISTS onlyonce_outbox_topic ON onlyonce_outbox (topic, due_at);
DROP INDEX IF EXISTS onlyonce_outbox_due;

INSERT INTO onlyonce_schema (version) VALUES (10);
