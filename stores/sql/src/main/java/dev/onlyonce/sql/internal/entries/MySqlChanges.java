package dev.onlyonce.sql.internal.entries;

import static java.util.Objects.requireNonNull;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreOutcomeUnknown;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The changes of entries in MySQL and MariaDB, in a transaction that is open. Each writes its rows of the audit. */
final class MySqlChanges {
    /** A claim takes about 100 bytes of memory until it is settled. */
    private static final int RETENTIONS_MAX = 10_000;

    private final MySqlQueries queries;
    private final LifeChanges life;
    /** Results of more bytes go in several statements. */
    private final int statementBytesMax;
    /** The retention in microseconds of claims that this node made, by their tokens: a claim's retention does not change. */
    private final Cache<UUID, Long> retentions = Caffeine.newBuilder()
            .maximumSize(RETENTIONS_MAX)
            .executor(Runnable::run)
            .build();

    MySqlChanges(MySqlQueries queries, LifeChanges life, int statementBytesMax) {
        this.queries = queries;
        this.life = life;
        this.statementBytesMax = statementBytesMax;
    }

    /** As {@link SqlDialect#write}, in a transaction that is open. */
    SqlDialect.Written written(
            Connection c, List<Settlement> settlements, List<ClaimRequest> claims, MySqlQueries.Wait wait)
            throws SQLException {
        Set<EntryId> fresh = settlements.isEmpty() ? Set.of() : settle(c, settlements, wait);
        if (!claims.isEmpty()) {
            List<Binding> rows = claims.stream()
                    .map(a -> RowParameters.of(MySqlQueries.COLUMNS, a))
                    .toList();
            queries.change(c, MySqlStatements.INSERT, rows, rows.size(), wait.seconds());
        }
        List<EntryId> ids = new ArrayList<>();
        settlements.forEach(s -> ids.add(s.id()));
        claims.forEach(a -> ids.add(a.id()));
        Map<EntryId, Standing> standing = standing(c, ids);
        List<AuditRow> audit = new ArrayList<>();
        for (Settlement settlement : settlements) {
            Standing now = standing.get(settlement.id());
            if (now != null && fresh.contains(settlement.id()) && !now.subject.isOwnRecord()) {
                audit.add(AuditRow.settled(now.subject, settlement, now.settled.settledAt()));
            }
        }
        life.audit(c, audit);
        settlements.forEach(s -> retentions.invalidate(s.token()));
        return new SqlDialect.Written(settled(settlements, standing, fresh), claimed(claims, standing));
    }

    /**
     * Settles ordinary lives with no transaction open, in one round trip instead of five, or in two if some are no such lives or were
     * not claimed here. Those that are missing in the answer are no such lives, and unchanged.
     */
    Map<EntryId, SettleResult.Settled> settledOrdinary(Connection connection, List<Settlement> settlements)
            throws SQLException {
        Map<EntryId, SettleResult.Settled> settled = new HashMap<>();
        if (!settlements.get(0).to().isAnswered() || parts(settlements).size() > 1) {
            return settled;
        }
        Binding ending = Binding.texts(MySqlQueries.COLUMNS, settlements.get(0).reason())
                .then(Binding.longs(settlements.get(0).to().code()));
        int rows = settlements.size();
        List<UUID> tokens = settlements.stream().map(Settlement::token).toList();
        Map<UUID, Long> known = retentions.getAllPresent(tokens);
        MySqlQueries.Changed changed = queries.changeTelling(
                connection,
                MySqlStatements.SETTLE_ORDINARY,
                settleParameters(settlements, ending),
                rows,
                MySqlQueries.BRIEFLY.seconds());
        retentions.invalidateAll(tokens);
        if (changed.rows() == rows && changed.lastInsertId() > 0 && known.size() == rows) {
            settlements.forEach(s -> settled.put(s.id(), settledAt(changed.lastInsertId(), known.get(s.token()))));
        } else if (changed.rows() > 0) {
            List<Binding> owners = new ArrayList<>(owners(settlements));
            owners.add(Binding.longs(settlements.get(0).to().code()));
            try {
                queries.query(
                        connection,
                        MySqlStatements.SETTLED,
                        owners,
                        rows,
                        row -> settled.put(MySqlQueries.id(row), StoredEntry.settled(row, 4)));
            } catch (SQLException e) {
                // Whatever it says: the settlements are committed.
                throw new StoreOutcomeUnknown("settlements are recorded, but cannot be read back", e);
            }
        }
        return settled;
    }

    /** Remembers what a settlement of these claims needs to know, so that it need not read it. */
    void remember(List<ClaimRequest> claims) {
        claims.forEach(
                c -> retentions.put(c.token(), StoredEntry.micros(c.terms().retention())));
    }

    private static SettleResult.Settled settledAt(long micros, @Nullable Long retention) {
        return new SettleResult.Settled(
                StoredEntry.instant(micros), StoredEntry.instant(micros + requireNonNull(retention)));
    }

    private static List<Binding> settleParameters(List<Settlement> settlements, Binding ending) {
        List<Binding> parameters = new ArrayList<>();
        settlements.forEach(s -> parameters.add(RowParameters.tokenAndName(s)));
        settlements.forEach(s -> parameters.add(RowParameters.result(s.result())));
        parameters.add(ending);
        parameters.addAll(owners(settlements));
        return parameters;
    }

    private static List<Binding> owners(List<Settlement> settlements) {
        return settlements.stream()
                .map(s -> RowParameters.owner(MySqlQueries.COLUMNS, s.id(), s.token()))
                .toList();
    }

    /** Returns those settled now, not by an earlier try. */
    private Set<EntryId> settle(Connection connection, List<Settlement> settlements, MySqlQueries.Wait wait)
            throws SQLException {
        Set<EntryId> held = queries.ids(connection, MySqlStatements.LOCK_HELD, owners(settlements), wait);
        List<Settlement> fresh =
                settlements.stream().filter(s -> held.contains(s.id())).toList();
        for (List<Settlement> part : parts(fresh)) {
            settlePart(connection, part);
        }
        return held;
    }

    private void settlePart(Connection connection, List<Settlement> settlements) throws SQLException {
        long state = settlements.get(0).to().code();
        Binding ending = Binding.longs(state, state, state, state, state)
                .then(Binding.texts(MySqlQueries.COLUMNS, settlements.get(0).reason()))
                .then(Binding.longs(state));
        queries.change(
                connection,
                MySqlStatements.SETTLE,
                settleParameters(settlements, ending),
                settlements.size(),
                MySqlQueries.LOCK_WAIT_SECONDS);
    }

    /**
     * One statement for each state, and for each reason that its entries may keep; and results may be large: cuts the batch
     * into statements that the server takes.
     */
    private List<List<Settlement>> parts(List<Settlement> settlements) {
        Map<List<Object>, List<Settlement>> alike = new LinkedHashMap<>();
        for (Settlement settlement : settlements) {
            List<Object> ending = List.of(settlement.to(), settlement.to().isAnswered() ? settlement.reason() : "");
            alike.computeIfAbsent(ending, e -> new ArrayList<>()).add(settlement);
        }
        List<List<Settlement>> parts = new ArrayList<>();
        alike.values().forEach(same -> addParts(parts, same));
        return parts;
    }

    private void addParts(List<List<Settlement>> parts, List<Settlement> settlements) {
        List<Settlement> part = new ArrayList<>();
        long bytes = 0;
        for (Settlement settlement : settlements) {
            byte[] result = settlement.result();
            int length = result == null ? 0 : result.length;
            if (!part.isEmpty() && bytes + length > statementBytesMax) {
                parts.add(part);
                part = new ArrayList<>();
                bytes = 0;
            }
            part.add(settlement);
            bytes += length;
        }
        if (!part.isEmpty()) {
            parts.add(part);
        }
    }

    private static Map<EntryId, SettleResult.Settled> settled(
            List<Settlement> settlements, Map<EntryId, Standing> standing, Set<EntryId> fresh) {
        Map<EntryId, SettleResult.Settled> settled = new HashMap<>();
        for (Settlement settlement : settlements) {
            Standing now = standing.get(settlement.id());
            // What was settled now counts even with no retention; a repeated settlement only while it is kept.
            boolean counts = fresh.contains(settlement.id()) || (now != null && !now.gone);
            if (now != null && now.is(settlement.token(), settlement.to()) && counts) {
                settled.put(settlement.id(), now.settled);
            }
        }
        return settled;
    }

    private static Map<EntryId, Integer> claimed(List<ClaimRequest> claims, Map<EntryId, Standing> standing) {
        Map<EntryId, Integer> claimed = new HashMap<>();
        for (ClaimRequest claim : claims) {
            Standing now = standing.get(claim.id());
            if (now != null && now.is(claim.token(), claim.start())) {
                claimed.put(claim.id(), now.subject.attempt());
            }
        }
        return claimed;
    }

    /** An entry as it stands, without its result. */
    private record Standing(
            AuditRow.Subject subject, @Nullable UUID token, SettleResult.Settled settled, boolean gone) {
        boolean is(UUID token, State state) {
            return token.equals(this.token) && state == subject.state();
        }
    }

    private Map<EntryId, Standing> standing(Connection connection, List<EntryId> ids) throws SQLException {
        Map<EntryId, Standing> standing = new HashMap<>();
        List<Binding> rows = ids.stream()
                .map(id -> RowParameters.of(MySqlQueries.COLUMNS, id))
                .toList();
        queries.query(
                connection,
                MySqlStatements.STANDING,
                rows,
                row -> standing.put(
                        MySqlQueries.id(row),
                        new Standing(
                                AuditRow.Subject.read(row, 1, MySqlQueries.COLUMNS),
                                MySqlQueries.COLUMNS.token(row, 11),
                                StoredEntry.settled(row, 12),
                                row.getBoolean(14))));
        return standing;
    }
}
