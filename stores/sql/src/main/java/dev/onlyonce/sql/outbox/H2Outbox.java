package dev.onlyonce.sql.outbox;

/**
 * The outbox in H2. Rows are taken in the order of the index, without ORDER BY: with it, H2 locks all that are due and then sorts
 * them, and other workers find none.
 */
final class H2Outbox implements OutboxStatements {
    @Override
    public String insert() {
        return """
                INSERT INTO onlyonce_outbox (tenant, space, key_, operation, entry_created_at, topic, payload, order_key, lasting,
                                             due_at)
                SELECT tenant, space, key_, operation, created_at, ?, ?, ?, ?,
                       (SELECT CAST(EXTRACT(EPOCH FROM EXECUTING_STATEMENT_START) * 1000000 AS BIGINT) FROM INFORMATION_SCHEMA.SESSIONS WHERE SESSION_ID = SESSION_ID())
                FROM onlyonce_entry
                WHERE tenant = ? AND space = ? AND key_ = ?""";
    }

    @Override
    public String due() {
        return """
                SELECT id, order_key, OCTET_LENGTH(payload) + COALESCE(OCTET_LENGTH(answer), 0),
                       (SELECT CAST(EXTRACT(EPOCH FROM EXECUTING_STATEMENT_START) * 1000000 AS BIGINT) FROM INFORMATION_SCHEMA.SESSIONS WHERE SESSION_ID = SESSION_ID())
                FROM onlyonce_outbox USE INDEX (onlyonce_outbox_topic)
                WHERE topic = ?
                  AND due_at <= (SELECT CAST(EXTRACT(EPOCH FROM EXECUTING_STATEMENT_START) * 1000000 AS BIGINT) FROM INFORMATION_SCHEMA.SESSIONS WHERE SESSION_ID = SESSION_ID())
                LIMIT 1000 /*rows*/
                FOR UPDATE SKIP LOCKED""";
    }

    @Override
    public String rows() {
        return """
                SELECT id, tenant, space, key_, operation, entry_created_at, topic, payload, tries, first_sent_at,
                       provider_id, answer, refused, dead, last_error, order_key, lasting,
                       (SELECT CAST(EXTRACT(EPOCH FROM EXECUTING_STATEMENT_START) * 1000000 AS BIGINT) FROM INFORMATION_SCHEMA.SESSIONS WHERE SESSION_ID = SESSION_ID())
                FROM onlyonce_outbox
                WHERE id IN (/*each*/ ? /*,*/)""";
    }

    @Override
    public String notFirst() {
        return """
                SELECT o.id FROM onlyonce_outbox AS o
                WHERE o.id IN (/*each*/ ? /*,*/)
                  AND EXISTS (
                      SELECT 1 FROM onlyonce_outbox AS e USE INDEX (onlyonce_outbox_order)
                      WHERE e.tenant = o.tenant AND e.topic = o.topic AND e.order_key = o.order_key AND e.id < o.id)
                  AND EXISTS (
                      SELECT 1 FROM onlyonce_entry AS n
                      WHERE n.tenant = o.tenant AND n.space = o.space AND n.key_ = o.key_
                        AND n.created_at = o.entry_created_at AND n.state IN (1, 2, 5, 6))""";
    }

    @Override
    public String waitInLine() {
        return """
                UPDATE onlyonce_outbox
                SET due_at = ? + least(greatest(? - entry_created_at, ?), ?)
                WHERE id IN (/*each*/ ? /*,*/)""";
    }

    @Override
    public String firstInLine() {
        return """
                SELECT id FROM onlyonce_outbox USE INDEX (onlyonce_outbox_order)
                WHERE tenant = ? AND topic = ? AND order_key = ?
                ORDER BY id LIMIT 1""";
    }

    @Override
    public String next() {
        return """
                UPDATE onlyonce_outbox
                SET due_at = (SELECT CAST(EXTRACT(EPOCH FROM EXECUTING_STATEMENT_START) * 1000000 AS BIGINT) FROM INFORMATION_SCHEMA.SESSIONS WHERE SESSION_ID = SESSION_ID())
                WHERE id IN (/*each*/ ? /*,*/) AND token IS NULL AND tries = 0""";
    }

    @Override
    public String take() {
        return """
                UPDATE onlyonce_outbox
                SET token = ?, due_at = ?, first_sent_at = coalesce(first_sent_at, ?), tries = tries + 1
                WHERE id IN (/*each*/ ? /*,*/)""";
    }

    @Override
    public String renewable() {
        return """
                SELECT id, token FROM onlyonce_outbox WHERE id IN (/*each*/ ? /*,*/)
                FOR UPDATE SKIP LOCKED""";
    }

    @Override
    public String renew() {
        return """
                UPDATE onlyonce_outbox
                SET due_at = (SELECT CAST(EXTRACT(EPOCH FROM EXECUTING_STATEMENT_START) * 1000000 AS BIGINT) FROM INFORMATION_SCHEMA.SESSIONS WHERE SESSION_ID = SESSION_ID()) + ?
                WHERE id IN (/*each*/ ? /*,*/)""";
    }

    @Override
    public String sending() {
        return """
                UPDATE onlyonce_outbox SET first_sent_at = ? WHERE id = ? AND token = ?""";
    }

    @Override
    public String record() {
        return """
                UPDATE onlyonce_outbox SET provider_id = ?, answer = ?, refused = ? WHERE id = ? AND token = ?""";
    }

    @Override
    public String putOff() {
        return """
                UPDATE onlyonce_outbox
                SET token = NULL, tries = ?, first_sent_at = ?, dead = ?, last_error = ?,
                    due_at = (SELECT CAST(EXTRACT(EPOCH FROM EXECUTING_STATEMENT_START) * 1000000 AS BIGINT) FROM INFORMATION_SCHEMA.SESSIONS WHERE SESSION_ID = SESSION_ID()) + ?
                WHERE id = ? AND token = ?""";
    }

    @Override
    public String delete() {
        return """
                DELETE FROM onlyonce_outbox WHERE token = ? AND id IN (/*each*/ ? /*,*/)""";
    }

    @Override
    public String listDead() {
        return """
                SELECT id, tenant, space, key_, operation, entry_created_at, topic, NULL, tries, first_sent_at,
                       provider_id, NULL, refused, dead, last_error, order_key, lasting,
                       (SELECT CAST(EXTRACT(EPOCH FROM EXECUTING_STATEMENT_START) * 1000000 AS BIGINT) FROM INFORMATION_SCHEMA.SESSIONS WHERE SESSION_ID = SESSION_ID())
                FROM onlyonce_outbox
                WHERE dead = 1 AND id > ?
                ORDER BY id LIMIT 1000 /*rows*/""";
    }

    @Override
    public String find() {
        return """
                SELECT id, tenant, space, key_, operation, entry_created_at, topic, payload, tries, first_sent_at,
                       provider_id, answer, refused, dead, last_error, order_key, lasting,
                       (SELECT CAST(EXTRACT(EPOCH FROM EXECUTING_STATEMENT_START) * 1000000 AS BIGINT) FROM INFORMATION_SCHEMA.SESSIONS WHERE SESSION_ID = SESSION_ID())
                FROM onlyonce_outbox
                WHERE tenant = ? AND space = ? AND key_ = ?
                ORDER BY id""";
    }

    @Override
    public String retry() {
        return """
                UPDATE onlyonce_outbox
                SET dead = 0, tries = 0,
                    due_at = CASE WHEN token IS NULL
                        THEN (SELECT CAST(EXTRACT(EPOCH FROM EXECUTING_STATEMENT_START) * 1000000 AS BIGINT) FROM INFORMATION_SCHEMA.SESSIONS WHERE SESSION_ID = SESSION_ID())
                        ELSE due_at END
                WHERE id = ? AND dead = 1""";
    }

    @Override
    public String drop() {
        return """
                DELETE FROM onlyonce_outbox WHERE id = ? AND dead = 1""";
    }
}
