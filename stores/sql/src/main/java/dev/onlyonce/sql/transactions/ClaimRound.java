package dev.onlyonce.sql.transactions;

import dev.onlyonce.Key;
import dev.onlyonce.Outcome;
import dev.onlyonce.Registry;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.internal.entries.InTransaction;
import dev.onlyonce.sql.internal.entries.Sealing;
import dev.onlyonce.sql.internal.entries.SqlAccess;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreBusy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/**
 * Claims a key in a transaction: the transactional way, the inbox and the outbox do it alike. For this module only.
 *
 * <ol>
 *   <li>It inserts the entry. The unique key decides.
 *   <li>If there is one already, it reads it. One that is free, or past everything, is taken under its lock. Any other is the answer.
 *   <li>If another transaction was faster, it starts again.
 * </ol>
 */
public final class ClaimRound {
    /** Each round lost means that another transaction ended in between and changed the entry. */
    private static final int ROUNDS_MAX = 8;

    private final InTransaction statements;
    private final Sealing sealing;

    public ClaimRound(SqlAccess access) {
        this.statements = access.inTransaction();
        this.sealing = access.sealing();
    }

    /** What became of a claim. */
    public sealed interface Result {
        /** The entry is new: its first attempt. */
        record Inserted() implements Result {}

        /** An entry that was free or past everything has this attempt now. */
        record Taken(int attempt) implements Result {}

        /** There is an entry that cannot be claimed. */
        record Found(Entry entry) implements Result {}
    }

    /**
     * Claims, or finds the entry that is there.
     *
     * @throws StoreBusy if others were faster in every round
     * @throws IllegalArgumentException if there is an entry, and the transaction reads what is not committed
     */
    public Result claim(Connection connection, ClaimRequest claim, InTransaction.Bounds bounds) throws SQLException {
        for (int round = 1; round <= ROUNDS_MAX; round++) {
            if (statements.insert(connection, claim, bounds).isPresent()) {
                return new Result.Inserted();
            }
            Optional<Entry> found = statements.find(connection, claim.id()).map(sealing::shown);
            if (found.isPresent() && (round == ROUNDS_MAX || !isFree(claim, found.get()))) {
                checkIsolation(connection);
                return new Result.Found(found.get());
            }
            Optional<Integer> attempt = takeOver(connection, claim, found, bounds);
            if (attempt.isPresent()) {
                return new Result.Taken(attempt.get());
            }
        }
        throw new StoreBusy("the entry changed hands " + ROUNDS_MAX + " times while being claimed", null);
    }

    private void checkIsolation(Connection connection) throws SQLException {
        if (statements.readsUncommitted(connection)) {
            throw new IllegalArgumentException(
                    "the transaction reads what others have not committed: an answer could be given that is undone later. Use"
                            + " READ COMMITTED or a stricter isolation level");
        }
    }

    /**
     * Takes what a look has found free, or what it did not find because it is past everything.
     *
     * @return the attempt; empty if it is not free, or not any more
     */
    Optional<Integer> takeOver(
            Connection connection, ClaimRequest claim, Optional<Entry> found, InTransaction.Bounds bounds)
            throws SQLException {
        if (found.isPresent() && !isFree(claim, found.get())) {
            return Optional.empty();
        }
        ClaimRequest same = found.map(entry -> inVersionOf(entry, claim)).orElse(claim);
        return statements.take(connection, same, bounds);
    }

    private static boolean isFree(ClaimRequest claim, Entry entry) {
        Key key = Key.of(claim.id(), claim.operation());
        return claim.start() == State.PROCESSING
                && entry.state().canBecome(State.PROCESSING)
                && Registry.answer(key, claim.fingerprint(), entry, Duration.ZERO) instanceof Outcome.InFlight;
    }

    private static ClaimRequest inVersionOf(Entry entry, ClaimRequest claim) {
        Fingerprint same = claim.fingerprint().in(entry.fingerprint().version()).orElse(claim.fingerprint());
        return new ClaimRequest(
                claim.id(), claim.operation(), same, claim.token(), claim.owner(), claim.terms(), claim.start());
    }
}
