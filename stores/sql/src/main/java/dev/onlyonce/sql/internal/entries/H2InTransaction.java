package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An insert that meets an entry fails alone: H2 undoes the statement and nothing else, and it leaves no lock. A deadlock
 * undoes the whole transaction; the caller learns that it has to begin again.
 */
final class H2InTransaction implements InTransaction {
    private static final String SERIALIZATION_FAILURE = "40001";

    private final H2 h2;
    private final H2Queries queries;
    private final H2Changes changes;

    H2InTransaction(H2 h2, H2Queries queries, H2Changes changes) {
        this.h2 = h2;
        this.queries = queries;
        this.changes = changes;
    }

    @Override
    public Optional<Integer> insert(Connection connection, ClaimRequest claim, Bounds bounds) throws SQLException {
        Optional<Integer> attempt = Optional.ofNullable(
                queries.insert(connection, List.of(claim), bounds.waitMax().toMillis())
                        .get(claim.id()));
        if (attempt.isEmpty() && isStrict(connection) && !isSeen(connection, claim.id())) {
            throw new SQLException(
                    "the entry was made after this transaction's snapshot",
                    SERIALIZATION_FAILURE,
                    Integer.parseInt(SERIALIZATION_FAILURE));
        }
        return attempt;
    }

    /** Whether it does not see what is committed after it began. */
    private static boolean isStrict(Connection connection) throws SQLException {
        return connection.getTransactionIsolation() > Connection.TRANSACTION_READ_COMMITTED;
    }

    private boolean isSeen(Connection connection, EntryId id) throws SQLException {
        return queries.one(connection, H2Statements.SEEN, H2Queries.of(id), H2Queries::attempt)
                .isPresent();
    }

    @Override
    public Optional<Integer> take(Connection connection, ClaimRequest claim, Bounds bounds) throws SQLException {
        return H2LockTimeout.run(
                connection,
                bounds.waitMax().toMillis(),
                c -> Optional.ofNullable(
                        h2.changes().claim(c, List.of(claim), true).get(claim.id())));
    }

    @Override
    public Optional<Entry> find(Connection connection, EntryId id) throws SQLException {
        return queries.one(connection, H2Statements.FIND, H2Queries.of(id), H2Queries::entry);
    }

    @Override
    public Map<EntryId, SettleResult.Settled> end(
            Connection connection, List<Settlement> settlements, List<Resolution> resolutions) throws SQLException {
        Map<EntryId, SettleResult.Settled> ended = new HashMap<>();
        if (!settlements.isEmpty()) {
            ended.putAll(changes.settled(connection, settlements, H2Queries.WAIT));
        }
        if (!resolutions.isEmpty()) {
            ended.putAll(h2.changes().resolve(connection, resolutions));
        }
        return ended;
    }

    @Override
    public Optional<SettleResult.Settled> settle(Connection connection, Settlement settlement) throws SQLException {
        return Optional.ofNullable(
                end(connection, List.of(settlement), List.of()).get(settlement.id()));
    }
}
