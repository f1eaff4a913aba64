package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Statements in a caller's transaction, each after a check that throws if the store must not be used. */
record GuardedInTransaction(InTransaction statements, Runnable guard) implements InTransaction {
    private InTransaction guarded() {
        guard.run();
        return statements;
    }

    @Override
    public boolean isBeingMade(Connection connection, EntryId id) throws SQLException {
        return guarded().isBeingMade(connection, id);
    }

    @Override
    public boolean readsUncommitted(Connection connection) throws SQLException {
        return guarded().readsUncommitted(connection);
    }

    @Override
    public Optional<Integer> insert(Connection connection, ClaimRequest claim, Bounds bounds) throws SQLException {
        return guarded().insert(connection, claim, bounds);
    }

    @Override
    public Map<EntryId, Integer> insertAll(Connection connection, List<ClaimRequest> claims, Bounds bounds)
            throws SQLException {
        return guarded().insertAll(connection, claims, bounds);
    }

    @Override
    public Optional<Map<EntryId, SettleResult.Settled>> insertCompleted(
            Connection connection, List<ClaimRequest> claims, List<Settlement> settlements, Bounds bounds)
            throws SQLException {
        return guarded().insertCompleted(connection, claims, settlements, bounds);
    }

    @Override
    public Map<EntryId, Entry> findAll(Connection connection, List<EntryId> ids) throws SQLException {
        return guarded().findAll(connection, ids);
    }

    @Override
    public Optional<Entry> find(Connection connection, EntryId id) throws SQLException {
        return guarded().find(connection, id);
    }

    @Override
    public Optional<Integer> take(Connection connection, ClaimRequest claim, Bounds bounds) throws SQLException {
        return guarded().take(connection, claim, bounds);
    }

    @Override
    public Map<EntryId, SettleResult.Settled> end(
            Connection connection, List<Settlement> settlements, List<Resolution> resolutions) throws SQLException {
        return guarded().end(connection, settlements, resolutions);
    }

    @Override
    public Optional<SettleResult.Settled> settle(Connection connection, Settlement settlement) throws SQLException {
        return guarded().settle(connection, settlement);
    }

    @Override
    public boolean isToldApart() {
        return statements.isToldApart();
    }

    @Override
    public Optional<SettleResult.Settled> settleOwn(Connection connection, Settlement settlement) throws SQLException {
        return guarded().settleOwn(connection, settlement);
    }
}
