-- Due rows are looked up by topic: those of one that stands still must not be in the way of the others. The table has what is still to be
-- delivered, so building the index is quick. As in V005, it is this script that gives way.
SET LOCAL lock_timeout = '800ms';
CREATE INDEX onlyonce_outbox_topic ON onlyonce_outbox (topic, due_at);
DROP INDEX onlyonce_outbox_due;

INSERT INTO onlyonce_schema (version) VALUES (10);
