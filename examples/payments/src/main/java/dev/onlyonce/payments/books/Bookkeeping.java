package dev.onlyonce.payments.books;

import dev.onlyonce.payments.db.Sql;
import dev.onlyonce.payments.events.PaymentEvent;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.List;

/**
 * Posts events as double entries: a payment is a debit of the provider, who owes us the money, and a credit of the merchant, to whom we owe
 * it; a refund is the reverse. Every method works in the caller's transaction, which also remembers that the event was applied. If an event
 * came twice all the same, after a month say, the unique key of its lines refuses it. Thread-safe.
 */
public final class Bookkeeping {
    /** What the provider owes us. */
    public static final String PROVIDER = "provider";

    /** What we owe the merchant. */
    public static final String MERCHANT = "merchant";

    private final InstantSource clock;

    /** With the clock that dates lines. */
    public Bookkeeping(InstantSource clock) {
        this.clock = clock;
    }

    /** The books have lines of this event. Trying again does not help; the transaction has to be rolled back. */
    public static final class AlreadyPosted extends RuntimeException {
        private static final long serialVersionUID = 1;

        private AlreadyPosted(PaymentEvent event) {
            super("the books have lines of " + event.id() + " already; nothing was posted");
        }
    }

    /** Posts an event; throws {@link AlreadyPosted}. */
    public void post(Sql sql, PaymentEvent event) throws SQLException {
        boolean paid = event.type().equals(PaymentEvent.PAID);
        insert(sql, event, 1, paid ? PROVIDER : MERCHANT, event.amount(), 0);
        insert(sql, event, 2, paid ? MERCHANT : PROVIDER, 0, event.amount());
    }

    private void insert(Sql sql, PaymentEvent event, int line, String account, long debit, long credit)
            throws SQLException {
        boolean isNew = sql.insertUnlessThere(
                """
                INSERT INTO book_line (event_id, line, event_type, tenant, account, currency, debit, credit, posted_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                event.id(),
                line,
                event.type(),
                event.tenant(),
                account,
                event.currency(),
                debit,
                credit,
                clock.millis());
        if (!isNew) {
            throw new AlreadyPosted(event);
        }
    }

    /** Adds up a tenant's books. */
    public TrialBalance trialBalance(Sql sql, String tenant) throws SQLException {
        List<TrialBalance.Line> accounts = sql.list(
                row -> new TrialBalance.Line(
                        row.getString(1),
                        row.getString(2),
                        row.getLong(3),
                        row.getLong(4),
                        row.getLong(3) - row.getLong(4)),
                """
                SELECT account, currency, SUM(debit), SUM(credit) FROM book_line WHERE tenant = ?
                GROUP BY account, currency ORDER BY account, currency
                """,
                tenant);
        long events = count(sql, "SELECT COUNT(DISTINCT event_id) FROM book_line WHERE tenant = ?", tenant);
        long wrong = count(sql, """
                SELECT COUNT(*) FROM (
                    SELECT event_id FROM book_line WHERE tenant = ?
                    GROUP BY event_id HAVING SUM(debit) <> SUM(credit) OR COUNT(*) <> 2) unbalanced
                """, tenant);
        return new TrialBalance(accounts, events, wrong == 0);
    }

    private static long count(Sql sql, String query, String tenant) throws SQLException {
        return sql.first(row -> row.getLong(1), query, tenant).orElseThrow();
    }
}
