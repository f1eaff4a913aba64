package dev.onlyonce.server.admin;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.http.admin.AdminParts;
import dev.onlyonce.http.admin.LocalOperator;
import dev.onlyonce.http.admin.NodeWatch;
import dev.onlyonce.http.admin.Program;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.outbox.Outbox;
import dev.onlyonce.store.Store;
import org.jspecify.annotations.Nullable;

/** Opens an operator on a store of any kind. */
public final class OperatorParts {
    private OperatorParts() {}

    /**
     * With an outbox and tables, if the store has them.
     *
     * @param onClose closes what was opened for it
     */
    public static LocalOperator open(
            Onlyonce once, Store store, Program program, @Nullable NodeWatch watch, String who, Runnable onClose) {
        if (!(store instanceof SqlStore sql)) {
            return new LocalOperator(new AdminParts(once, store, program, null, null, watch), who, onClose);
        }
        Outbox outbox = Outbox.of(once);
        return new LocalOperator(new AdminParts(once, store, program, outbox, new SqlTables(sql), watch), who, () -> {
            outbox.close();
            onClose.run();
        });
    }
}
