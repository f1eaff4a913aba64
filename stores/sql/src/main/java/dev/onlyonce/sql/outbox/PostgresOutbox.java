package dev.onlyonce.sql.outbox;

/**
 * The outbox in PostgreSQL. Any number of ids is one array, so that a statement is planned once. The clock is a scalar
 * subquery: it is computed once, so that an index can be compared with it. Lines are looked up in ways that only their own index can
 * serve: the planner would take the primary key for ORDER BY id, and OFFSET keeps EXISTS from becoming a join.
 */
final class PostgresOutbox implements OutboxStatements {
    @Override
    public String insert() {
        return """
                INSERT INTO onlyonce_outbox (tenant, space, key_, operation, entry_created_at, topic, payload, order_key, lasting,
                                             due_at)
                SELECT tenant, space, key_, operation, created_at, ?, ?, ?, ?,
                       (SELECT (date_part('epoch', clock_timestamp()) * 1000000)::bigint)
                FROM onlyonce_entry
                WHERE tenant = ? AND space = ? AND key_ = ?""";
    }

    @Override
    public String due() {
        return """
                SELECT id, order_key, octet_length(payload) + coalesce(octet_length(answer), 0),
                       (SELECT (date_part('epoch', clock_timestamp()) * 1000000)::bigint)
                FROM onlyonce_outbox
                WHERE topic = ?
                  AND due_at <= (SELECT (date_part('epoch', clock_timestamp()) * 1000000)::bigint)
                ORDER BY due_at LIMIT 1000 /*rows*/
                FOR UPDATE SKIP LOCKED""";
    }

    @Override
    public String rows() {
        return """
                SELECT id, tenant, space, key_, operation, entry_created_at, topic, payload, tries, first_sent_at,
                       provider_id, answer, refused, dead, last_error, order_key, lasting,
                       (SELECT (date_part('epoch', clock_timestamp()) * 1000000)::bigint)
                FROM onlyonce_outbox
                WHERE id = ANY (?)""";
    }

    @Override
    public String notFirst() {
        return """
                SELECT o.id FROM onlyonce_outbox AS o
                WHERE o.id = ANY (?)
                  AND EXISTS (
                      SELECT 1 FROM onlyonce_outbox AS e
                      WHERE e.tenant = o.tenant AND e.topic = o.topic AND e.order_key = o.order_key AND e.id < o.id
                      OFFSET 0)
                  AND EXISTS (
                      SELECT 1 FROM onlyonce_entry AS n
                      WHERE n.tenant = o.tenant AND n.space = o.space AND n.key_ = o.key_
                        AND n.created_at = o.entry_created_at AND n.state IN (1, 2, 5, 6)
                      OFFSET 0)""";
    }

    @Override
    public String waitInLine() {
        return """
                UPDATE onlyonce_outbox
                SET due_at = ? + least(greatest(? - entry_created_at, ?), ?)
                WHERE id = ANY (?)""";
    }

    @Override
    public String firstInLine() {
        return """
                SELECT (
                    SELECT CASE WHEN o.tenant = l.tenant AND o.topic = l.topic AND o.order_key = l.order_key THEN o.id END
                    FROM onlyonce_outbox AS o
                    WHERE (o.tenant, o.topic, o.order_key) >= (l.tenant, l.topic, l.order_key) AND o.order_key IS NOT NULL
                    ORDER BY o.tenant, o.topic, o.order_key, o.id LIMIT 1)
                FROM (SELECT unnest(?::text[]) AS tenant, unnest(?::text[]) AS topic, unnest(?::text[]) AS order_key) AS l""";
    }

    @Override
    public String next() {
        return """
                UPDATE onlyonce_outbox
                SET due_at = (SELECT (date_part('epoch', clock_timestamp()) * 1000000)::bigint)
                WHERE id = ANY (?) AND token IS NULL AND tries = 0""";
    }

    @Override
    public String take() {
        return """
                UPDATE onlyonce_outbox
                SET token = ?, due_at = ?, first_sent_at = coalesce(first_sent_at, ?), tries = tries + 1
                WHERE id = ANY (?)""";
    }

    @Override
    public String renewable() {
        return """
                SELECT id, token FROM onlyonce_outbox WHERE id = ANY (?)
                FOR UPDATE SKIP LOCKED""";
    }

    @Override
    public String renew() {
        return """
                UPDATE onlyonce_outbox
                SET due_at = (SELECT (date_part('epoch', clock_timestamp()) * 1000000)::bigint) + ?
                WHERE id = ANY (?)""";
    }

    @Override
    public String sending() {
        return """
                UPDATE onlyonce_outbox SET first_sent_at = ? WHERE id = ? AND token = ?""";
    }

    @Override
    public String record() {
        return """
                UPDATE onlyonce_outbox o
                SET provider_id = a.provider_id, answer = a.answer, refused = a.refused
                FROM (SELECT unnest(?::bigint[]) AS id, unnest(?::uuid[]) AS token, unnest(?::text[]) AS provider_id,
                             unnest(?::bytea[]) AS answer, unnest(?::smallint[]) AS refused) AS a
                WHERE o.id = a.id AND o.token = a.token
                RETURNING o.id""";
    }

    @Override
    public String putOff() {
        return """
                UPDATE onlyonce_outbox
                SET token = NULL, tries = ?, first_sent_at = ?, dead = ?, last_error = ?,
                    due_at = (SELECT (date_part('epoch', clock_timestamp()) * 1000000)::bigint) + ?
                WHERE id = ? AND token = ?""";
    }

    @Override
    public String delete() {
        return """
                DELETE FROM onlyonce_outbox WHERE token = ? AND id = ANY (?)""";
    }

    @Override
    public String listDead() {
        return """
                SELECT id, tenant, space, key_, operation, entry_created_at, topic, NULL, tries, first_sent_at,
                       provider_id, NULL, refused, dead, last_error, order_key, lasting,
                       (SELECT (date_part('epoch', clock_timestamp()) * 1000000)::bigint)
                FROM onlyonce_outbox
                WHERE dead = 1 AND id > ?
                ORDER BY id LIMIT 1000 /*rows*/""";
    }

    @Override
    public String find() {
        return """
                SELECT id, tenant, space, key_, operation, entry_created_at, topic, payload, tries, first_sent_at,
                       provider_id, answer, refused, dead, last_error, order_key, lasting,
                       (SELECT (date_part('epoch', clock_timestamp()) * 1000000)::bigint)
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
                        THEN (SELECT (date_part('epoch', clock_timestamp()) * 1000000)::bigint)
                        ELSE due_at END
                WHERE id = ? AND dead = 1""";
    }

    @Override
    public String drop() {
        return """
                DELETE FROM onlyonce_outbox WHERE id = ? AND dead = 1""";
    }
}
