package dev.onlyonce.sql.transactions;

import dev.onlyonce.sql.internal.connections.Connections;
import dev.onlyonce.sql.internal.connections.Source;
import dev.onlyonce.sql.internal.connections.SqlDatabase;
import dev.onlyonce.sql.internal.connections.SqlFailure;
import dev.onlyonce.sql.internal.connections.Standby;
import dev.onlyonce.store.StoreUnavailable;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;

/** A transaction on a connection that is borrowed for it. */
final class OwnTransaction {
    private final Source.Borrowed borrowed;
    private final SqlDatabase kind;
    private boolean ended;

    private OwnTransaction(Source.Borrowed borrowed, SqlDatabase kind) {
        this.borrowed = borrowed;
        this.kind = kind;
    }

    /** Begins one; the caller must call {@link #giveBack}. */
    static OwnTransaction begin(Connections calls, SqlDatabase kind) {
        OwnTransaction transaction = new OwnTransaction(calls.borrow(Source.Use.TRANSACTION), kind);
        try {
            transaction.connection().setAutoCommit(false);
            return transaction;
        } catch (SQLException e) {
            transaction.giveBack();
            throw new StoreUnavailable("no transaction can be begun", e);
        } catch (Throwable e) {
            transaction.giveBack();
            throw e;
        }
    }

    Connection connection() {
        return borrowed.connection();
    }

    void rollBack(Throwable cause) {
        Throwable failure = cause instanceof SQLException ? cause : cause.getCause();
        if (failure instanceof SQLException e && SqlFailure.isReadOnly(kind, e)) {
            borrowed.leave();
        }
        try {
            connection().rollback();
            connection().setAutoCommit(true);
            ended = true;
        } catch (SQLException e) {
            cause.addSuppressed(e);
        }
    }

    /** Ends it without an effect; a connection that is lost does so by itself. */
    void rollBack() {
        rollBack(new StoreUnavailable("the transaction is rolled back", null));
    }

    /** Commits; returns the error that leaves the outcome open, throws those that do not. */
    Optional<SQLException> commit() {
        try {
            Standby.commit(kind, connection());
            connection().setAutoCommit(true);
            ended = true;
            return Optional.empty();
        } catch (SQLException e) {
            SqlFailure failure = SqlFailure.of(kind, e);
            if (failure == SqlFailure.ANSWER_LOST) {
                return Optional.of(e);
            }
            RuntimeException known = Savepoints.exception(failure, e);
            rollBack(known);
            throw known;
        }
    }

    /** Gives the connection back; as a broken one, if the transaction has not ended. */
    void giveBack() {
        borrowed.giveBack(ended);
    }
}
