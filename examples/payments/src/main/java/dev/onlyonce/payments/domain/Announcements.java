package dev.onlyonce.payments.domain;

import dev.onlyonce.payments.db.Sql;
import java.sql.SQLException;

/** Tells others that money has moved, in the transaction that writes it down: they hear of it if, and only if, it commits. */
public interface Announcements {
    /** A payment has succeeded. */
    void paid(Sql sql, Payment payment) throws SQLException;

    /** A refund of a payment has succeeded. */
    void refunded(Sql sql, Payment payment, Refund refund) throws SQLException;
}
