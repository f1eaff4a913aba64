package dev.onlyonce.sql.entries;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Claims and settles in PostgreSQL, as briefly as it can be done.
 *
 * <ol>
 *   <li>A caller that is alone sends one statement that sets its own bound, without settings in front.
 *   <li>A batch of ordinary settlements is one UPDATE, which has no audit. It leaves alone what is out of the ordinary: a claim that has
 *       lapsed, is somebody else's by now, or has a long lease.
 *   <li>Everything else, and what is left, goes with the statements that can do all of it.
 * </ol>
 */
final class PostgresWriting {
    /** The planner reads an index rather than this many pages: a table scan costs one for each, a look-up less than 10. */
    static final long GROWN_PAGES = 128;

    private static final String COMPLETION_UNKNOWN = "40003";

    private final Postgres postgres;
    private final RunTimeBound bound = new RunTimeBound();
    /** Whether the last lone claim's row went to a page far into the table: then it is not small now. */
    private volatile boolean grown;
    /** What {@link #isReplicated} found, or the last lone statement; null before. */
    private volatile @Nullable Boolean replicated;
    /** Whether the last settlements were ordinary. Where leases are long, none is, and it would be tried in vain each time. */
    private volatile boolean ordinary = true;

    PostgresWriting(Postgres postgres) {
        this.postgres = postgres;
    }

    /** See {@link Database#write}. */
    Database.Written write(Connection connection, List<Settlement> settlements, List<ClaimRequest> claims)
            throws SQLException {
        Map<EntryId, SettleResult.Settled> settled = new HashMap<>();
        Map<EntryId, Integer> claimed = new HashMap<>();
        boolean commits = connection.getAutoCommit();
        if (commits && settlements.isEmpty() && claims.size() == 1 && !isReplicated(connection)) {
            claimAlone(connection, claims.get(0), claimed);
            return new Database.Written(settled, claimed);
        }
        if (commits && claims.isEmpty() && ordinary && isAnswered(settlements)) {
            settleOrdinary(connection, settlements, settled);
        }
        if (settled.isEmpty()) {
            writeAll(connection, settlements, claims, settled, claimed);
        } else if (settled.size() < settlements.size()) {
            settleRest(connection, settlements, settled);
        }
        return new Database.Written(settled, claimed);
    }

    private static boolean isAnswered(List<Settlement> settlements) {
        for (Settlement settlement : settlements) {
            if (!settlement.to().isAnswered()) {
                return false;
            }
        }
        return true;
    }

    private void writeAll(
            Connection connection,
            List<Settlement> settlements,
            List<ClaimRequest> claims,
            Map<EntryId, SettleResult.Settled> settled,
            Map<EntryId, Integer> claimed)
            throws SQLException {
        List<Postgres.Part> parts = new ArrayList<>(2);
        if (!settlements.isEmpty()) {
            boolean answered = isAnswered(settlements);
            parts.add(Postgres.settle(settlements, row -> {
                settled.put(Postgres.id(row), StoredEntry.settled(row, 4));
                if (answered) {
                    ordinary = row.getBoolean(6);
                }
            }));
        }
        if (!claims.isEmpty()) {
            parts.add(Postgres.insert(claims, row -> claimed.put(Postgres.id(row), row.getInt(4))));
        }
        postgres.run(connection, parts.toArray(Postgres.Part[]::new));
    }

    /** Settles what is left. The others are settled and committed, so its failure says nothing about them. */
    private void settleRest(
            Connection connection, List<Settlement> settlements, Map<EntryId, SettleResult.Settled> settled)
            throws SQLException {
        List<Settlement> rest =
                settlements.stream().filter(s -> !settled.containsKey(s.id())).toList();
        try {
            writeAll(connection, rest, List.of(), settled, new HashMap<>());
        } catch (SQLException e) {
            throw new SQLException("a part was settled before this failed", COMPLETION_UNKNOWN, e);
        }
    }

    private void settleOrdinary(
            Connection connection, List<Settlement> settlements, Map<EntryId, SettleResult.Settled> settled)
            throws SQLException {
        if (settlements.size() > 1) {
            postgres.run(
                    connection,
                    new Postgres.Part(
                            PostgresStatements.SETTLE_ORDINARY,
                            ArrayParameters.ofSettlements(settlements),
                            row -> settled.put(Postgres.id(row), StoredEntry.settled(row, 4))));
        } else if (grown && !isReplicated(connection)) {
            settleAlone(connection, settlements.get(0), settled);
        }
    }

    private void claimAlone(Connection connection, ClaimRequest claim, Map<EntryId, Integer> claimed)
            throws SQLException {
        runAlone(connection, PostgresStatements.INSERT_ALONE, RowParameters.of(Columns.NATIVE, claim), row -> {
            claimed.put(claim.id(), row.getInt(1));
            grown = page(row.getString(2)) >= GROWN_PAGES;
            replicated = row.getBoolean(3);
        });
    }

    /** The page in a ctid like {@code (12,3)}. */
    private static long page(String ctid) {
        return Long.parseLong(ctid.substring(1, ctid.indexOf(',')));
    }

    /** Settles in a table that is not small. */
    private void settleAlone(Connection connection, Settlement settlement, Map<EntryId, SettleResult.Settled> settled)
            throws SQLException {
        runAlone(connection, PostgresStatements.SETTLE_ALONE, RowParameters.of(Columns.NATIVE, settlement), row -> {
            settled.put(settlement.id(), StoredEntry.settled(row, 1));
            replicated = row.getBoolean(3);
        });
    }

    /** Sends a statement without settings. It bounds its wait for a row itself, but not that for the table, which comes before. */
    private void runAlone(Connection connection, String sql, Binding binding, Postgres.RowReader each)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(postgres.sql(sql))) {
            binding.bind(statement, 1);
            if (bound.execute(statement) && isReplicatedNow(connection)) {
                // The server has got a standby since the last look, which may not have it.
                throw new SQLException("the commit was cancelled while it waited for a standby", COMPLETION_UNKNOWN);
            }
            try (ResultSet rows = statement.getResultSet()) {
                while (rows.next()) {
                    each.accept(rows);
                }
            }
        }
    }

    /**
     * Whether a commit may wait for a standby. PostgreSQL ends that wait when the statement is cancelled, and acknowledges what the standby
     * does not have: there nothing may be cancelled, so nothing goes alone.
     */
    private boolean isReplicated(Connection connection) throws SQLException {
        Boolean known = replicated;
        return known == null ? isReplicatedNow(connection) : known;
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
}
