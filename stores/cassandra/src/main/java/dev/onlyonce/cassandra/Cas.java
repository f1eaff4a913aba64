package dev.onlyonce.cassandra;

import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BatchableStatement;
import com.datastax.oss.driver.api.core.cql.BoundStatementBuilder;
import com.datastax.oss.driver.api.core.cql.DefaultBatchType;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.Statement;
import dev.onlyonce.cassandra.Change.Audited;
import dev.onlyonce.cassandra.Change.Condition;
import dev.onlyonce.cassandra.Change.Write;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.Terms;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Writes a {@link Change} as one lightweight transaction: the entry and its audit records together, or nothing. */
final class Cas {
    private final Link link;
    private final Statements statements;
    private final int auditTtl;
    private final LongAdder sent = new LongAdder();

    /** What became of a change. */
    sealed interface Outcome {
        /** It took place. */
        record Applied() implements Outcome {}

        /**
         * Its condition was not met.
         *
         * @param entry what is in its way, if the condition was that there is none; else null
         */
        record Refused(@Nullable StoredEntry entry) implements Outcome {}

        /** It may have taken place, or not; the exception says which. */
        record Failed(StoreException failure) implements Outcome {}
    }

    Cas(Link link, Statements statements, Duration auditRetention) {
        this.link = link;
        this.statements = statements;
        this.auditTtl = (int) auditRetention.toSeconds();
    }

    /** How many transactions were sent. */
    long sent() {
        return sent.sum();
    }

    CompletableFuture<Outcome> send(Change change) {
        List<BatchableStatement<?>> all = new ArrayList<>();
        all.add(conditional(change).build());
        Condition condition = change.condition();
        if (change.write() instanceof Write.Entry entry && !isNew(condition) && !isWhole(entry, condition)) {
            all.add(Statements.on(statements.setResult, change.id())
                    .setByteBuffer("result", entry.entry().standing().result())
                    .setInt("ttl", entry.ttl().result())
                    .build());
        }
        for (int step = 0; step < change.records().size(); step++) {
            all.add(record(change.id(), change.records().get(step), step).build());
        }
        sent.increment();
        // Cassandra does less for a statement than for a batch of one.
        Statement<?> statement =
                all.size() == 1 ? all.get(0) : BatchStatement.newInstance(DefaultBatchType.UNLOGGED, all);
        return link.transaction(statement)
                .handle((rows, failure) ->
                        failure == null ? outcome(change, rows) : new Outcome.Failed(Failures.ofWrite(failure)));
    }

    /** Whether the entry's own statement writes the result. A new entry has none, and that of a tombstone ends before it. */
    private static boolean isWhole(Write.Entry write, Condition condition) {
        return !isNew(condition) && write.ttl().entry() == write.ttl().result();
    }

    private static boolean isNew(Condition condition) {
        return condition instanceof Condition.Absent;
    }

    private static Outcome outcome(Change change, AsyncResultSet rows) {
        if (rows.wasApplied()) {
            return new Outcome.Applied();
        }
        if (Failures.wasAfterTheOrder(rows.getExecutionInfo())) {
            // What refuses this change may be the change itself.
            return new Outcome.Failed(new StoreOutcomeUnknown("Cassandra refused a change on the second try", null));
        }
        try {
            Row row = rows.one();
            return new Outcome.Refused(
                    change.condition() instanceof Condition.Absent ? StoredEntry.of(change.id(), row) : null);
        } catch (StoreException e) {
            return new Outcome.Failed(e);
        }
    }

    private PreparedStatement statement(Write write, Condition condition) {
        if (isNew(condition)) {
            return statements.begin;
        }
        boolean isHeld = condition instanceof Condition.Held;
        if (write instanceof Write.Lease) {
            return isHeld ? statements.renewHeld : statements.renewUnchanged;
        }
        if (!(write instanceof Write.Entry entry)) {
            return statements.delete;
        }
        if (isWhole(entry, condition)) {
            return isHeld ? statements.setWholeHeld : statements.setWholeUnchanged;
        }
        return isHeld ? statements.setHeld : statements.setUnchanged;
    }

    private BoundStatementBuilder conditional(Change change) {
        Condition condition = change.condition();
        BoundStatementBuilder bound = Statements.on(statement(change.write(), condition), change.id());
        if (condition instanceof Condition.Held held) {
            bound = bound.setUuid("held", held.token())
                    .setUuid("held_life", held.life())
                    .setInt("held_attempt", held.attempt());
        } else if (condition instanceof Condition.Unchanged unchanged) {
            bound = bound.setUuid("expected", unchanged.change());
        }
        if (change.write() instanceof Write.Entry whole) {
            if (isWhole(whole, condition)) {
                bound = bound.setByteBuffer("result", whole.entry().standing().result());
            }
            return set(bound.setInt("ttl", whole.ttl().entry()), whole.entry(), condition);
        } else if (change.write() instanceof Write.Lease lease) {
            return bound.setLong("lease_until", lease.entry().hold().leaseUntil())
                    .setUuid("change", lease.entry().standing().change());
        }
        return bound;
    }

    private static BoundStatementBuilder set(BoundStatementBuilder to, StoredEntry entry, Condition condition) {
        StoredEntry.Life life = entry.life();
        StoredEntry.Hold hold = entry.hold();
        StoredEntry.Standing standing = entry.standing();
        Terms terms = hold.terms();
        BoundStatementBuilder set = to.setByte("state", (byte) standing.state().code())
                .setUuid("change", standing.change())
                .setUuid("life", life.mark())
                .setShort("shard", (short) life.shard())
                .setInt("attempt", hold.attempt())
                .setString("operation", life.operation())
                .setByteBuffer("fingerprint", ByteBuffer.wrap(life.fingerprint().digest()))
                .setInt("fingerprint_version", life.fingerprint().version())
                .setString("owner", hold.owner())
                .setByte("on_lease_lost", (byte) terms.onLeaseLost().code())
                .setLong("lease_ms", terms.lease().toMillis())
                .setLong("retention_ms", terms.retention().toMillis())
                .setLong("tombstone_ms", terms.tombstone().toMillis())
                .setLong("created", life.created())
                .setLong("lease_until", hold.leaseUntil())
                .setUuid("claim_token", hold.token());
        // A new entry has nothing to be set to null, which would cost a tombstone in each column.
        boolean isNew = isNew(condition);
        set = standing.settled() == null && isNew ? set : set.set("settled", standing.settled(), Long.class);
        boolean sameLife = isNew || condition instanceof Condition.Held;
        String target = life.fingerprint().target();
        set = target == null && sameLife ? set : set.setString("target", target);
        return standing.expires() == null && isNew ? set : set.set("expires", standing.expires(), Long.class);
    }

    private BoundStatementBuilder record(EntryId id, Audited record, int step) {
        if (record.isProofOnly()) {
            return Statements.on(statements.proof, id).setUuid("record", record.id());
        }
        return Statements.on(statements.record, id)
                .setUuid("record", record.id())
                .setString("operation", record.who().operation())
                .setInt("attempt", record.who().attempt())
                .setByte("from_state", code(record.from()))
                .setByte("to_state", code(record.to()))
                .setByte("step", (byte) step)
                .setLong("at", record.at())
                .setString("who", record.who().who())
                .setString("why", record.who().why())
                .setInt("ttl", auditTtl);
    }

    private static byte code(@Nullable State state) {
        return (byte) (state == null ? 0 : state.code());
    }

    /** Reads the entry; null if there is none. */
    @Nullable
    StoredEntry read(EntryId id) {
        List<Row> rows = link.rows(Statements.read(statements.find, id));
        return rows.isEmpty() ? null : StoredEntry.of(id, rows.get(0));
    }

    /**
     * Reads the entry after all transactions on it, those without an answer too.
     *
     * @param entry null if there is none
     * @param proofs those of the given records that are there: their changes took place
     */
    record Proven(@Nullable StoredEntry entry, List<UUID> proofs) {}

    Proven readAfterAll(EntryId id, List<UUID> records) {
        List<UUID> wanted = new ArrayList<>(records);
        wanted.add(Statements.ENTRY);
        List<Row> rows = link.rowsAfterAll(Statements.on(statements.findProven, id)
                .setList("records", wanted, UUID.class)
                .setIdempotence(true)
                .build());
        StoredEntry entry = null;
        List<UUID> proofs = new ArrayList<>();
        for (Row row : rows) {
            UUID record = row.getUuid("record");
            if (Statements.ENTRY.equals(record)) {
                entry = StoredEntry.of(id, row);
            } else if (record != null) {
                proofs.add(record);
            }
        }
        return new Proven(entry, proofs);
    }
}
