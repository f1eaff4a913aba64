package dev.onlyonce.sql.transactions;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * The database cannot bring this transaction into line with another one (a serialisation failure or a deadlock), or its
 * session has lost a prepared statement. Nothing was executed for good. Roll the transaction back and run all of it again.
 */
public final class TransactionConflict extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    TransactionConflict(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
