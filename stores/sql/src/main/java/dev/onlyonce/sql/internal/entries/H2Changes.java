package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** The changes of entries in H2, in a transaction that is open. Each writes its rows of the audit. */
final class H2Changes {
    private final H2Queries queries;
    private final LifeChanges life;

    H2Changes(H2Queries queries, LifeChanges life) {
        this.queries = queries;
        this.life = life;
    }

    /** An entry that is locked and about to change, and the clock. */
    record Before(long now, AuditRow.Subject subject) {
        static Before read(ResultSet row) throws SQLException {
            return new Before(row.getLong(1), AuditRow.Subject.read(row, 2, H2Queries.COLUMNS));
        }
    }

    /** An entry that was settled or resolved. */
    private record Ended(SettleResult.Settled settled, AuditRow.Subject subject) {
        static Ended read(ResultSet row) throws SQLException {
            return new Ended(StoredEntry.settled(row, 1), AuditRow.Subject.read(row, 3, H2Queries.COLUMNS));
        }
    }

    /** Settles those that are processing with their token. */
    Map<EntryId, SettleResult.Settled> settled(Connection c, List<Settlement> settlements, UnaryOperator<String> locked)
            throws SQLException {
        Map<EntryId, SettleResult.Settled> settled = new HashMap<>();
        List<AuditRow> audit = new ArrayList<>();
        Change<Settlement, Ended> change = new Change<>(
                H2Statements.SETTLE, locked, Settlement::id, s -> RowParameters.of(H2Queries.COLUMNS, s), Ended::read);
        each(c, settlements, change, (settlement, before, ended) -> {
            settled.put(settlement.id(), ended.settled);
            if (!ended.subject.isOwnRecord()) {
                audit.add(AuditRow.settled(ended.subject, settlement, ended.settled.settledAt()));
            }
        });
        life.audit(c, audit);
        return settled;
    }

    /** As {@link SqlDialect#renew}. */
    Set<EntryId> renewed(Connection c, List<Renewal> renewals) throws SQLException {
        Map<EntryId, Integer> renewed = new HashMap<>();
        Change<Renewal, Integer> change = new Change<>(
                H2Statements.RENEW,
                H2Queries.SKIP,
                Renewal::id,
                r -> RowParameters.of(H2Queries.COLUMNS, r),
                H2Queries::attempt);
        each(c, renewals, change, (renewal, before, attempt) -> renewed.put(renewal.id(), attempt));
        return renewed.keySet();
    }

    /**
     * One kind of change.
     *
     * @param sql changes a row that is locked; its last parameter is the clock
     * @param locked what to do about rows that somebody else has locked
     */
    private record Change<T, R>(
            String sql,
            UnaryOperator<String> locked,
            Function<T, EntryId> id,
            Function<T, Binding> parameters,
            RowReader<R> reader) {}

    @FunctionalInterface
    private interface Changed<T, R> {
        void accept(T item, Before before, R answer);
    }

    /** Locks the row of each item and changes it, if it still is as the statement asks. */
    private <T, R> void each(Connection c, List<T> items, Change<T, R> change, Changed<T, R> changed)
            throws SQLException {
        String lock = change.locked.apply(H2Statements.LOCK);
        for (T item : items) {
            Optional<Before> before = queries.one(c, lock, H2Queries.of(change.id.apply(item)), Before::read);
            if (before.isPresent()) {
                Binding parameters = change.parameters.apply(item).then(Binding.longs(before.get().now));
                Optional<R> answer = queries.one(c, change.sql, parameters, change.reader);
                answer.ifPresent(a -> changed.accept(item, before.get(), a));
            }
        }
    }
}
