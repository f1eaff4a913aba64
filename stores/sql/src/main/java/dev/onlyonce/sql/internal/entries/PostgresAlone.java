package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.sql.internal.connections.Standby;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Claims and settles for a caller that is alone: with one statement that sets its own bound, without settings in front. */
final class PostgresAlone {
    /** The planner reads an index rather than this many pages: a table scan costs one for each, a look-up less than 10. */
    static final long GROWN_PAGES = 128;

    private static final Duration RUN_MAX = Duration.ofSeconds(1);

    private final Postgres postgres;
    private final RunTimeBound bound = new RunTimeBound();
    /** Whether the last claim's row went to a page far into the table: then it is not small now. */
    private volatile boolean grown;
    /** What {@link #isReplicatedNow} found, or the last statement; null before. */
    private volatile @Nullable Boolean replicated;

    PostgresAlone(Postgres postgres) {
        this.postgres = postgres;
    }

    /**
     * Whether a statement may go alone: not in a transaction, and not where a commit may wait for a standby. PostgreSQL ends that wait when the
     * statement is cancelled, and acknowledges what the standby does not have: there nothing may be cancelled.
     */
    boolean isPossible(Connection connection) throws SQLException {
        if (!connection.getAutoCommit()) {
            return false;
        }
        Boolean known = replicated;
        return known == null ? !isReplicatedNow(connection) : !known;
    }

    private boolean isReplicatedNow(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(PostgresStatements.REPLICATED)) {
            row.next();
            boolean found = row.getBoolean(1);
            replicated = found;
            return found;
        }
    }

    /** Claims; nothing is added to {@code claimed} if the key is taken. */
    void claim(Connection connection, ClaimRequest claim, Map<EntryId, Integer> claimed) throws SQLException {
        run(connection, PostgresStatements.INSERT_ALONE, RowParameters.of(Columns.NATIVE, claim), row -> {
            claimed.put(claim.id(), row.getInt(1));
            grown = page(row.getString(2)) >= GROWN_PAGES;
            replicated = row.getBoolean(3);
        });
    }

    /** Settles an ordinary life in a table that is not small, and nothing else. */
    void settle(Connection connection, Settlement settlement, Map<EntryId, SettleResult.Settled> settled)
            throws SQLException {
        if (grown && settlement.to().isAnswered()) {
            run(connection, PostgresStatements.SETTLE_ALONE, RowParameters.of(Columns.NATIVE, settlement), row -> {
                settled.put(settlement.id(), StoredEntry.settled(row, 1));
                replicated = row.getBoolean(3);
            });
        }
    }

    /** The statement bounds its wait for a row itself, but not that for the table, which comes before. */
    private void run(Connection connection, String sql, Binding binding, Postgres.RowEffect each) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(postgres.sql(sql))) {
            binding.bind(statement, 1);
            bound.execute(statement, RUN_MAX);
            // The server may have got a standby since the last look, and the bound may have ended the wait for it.
            Standby.check(statement.getWarnings());
            try (ResultSet rows = statement.getResultSet()) {
                while (rows.next()) {
                    each.accept(rows);
                }
            }
        }
    }

    /** The page in a ctid like {@code (12,3)}. */
    private static long page(String ctid) {
        return Long.parseLong(ctid.substring(1, ctid.indexOf(',')));
    }
}
