package dev.onlyonce.sql.inbox;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Outcome;
import dev.onlyonce.Scope;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.transactions.TransactionConflict;
import dev.onlyonce.sql.transactions.TransactionalAction;
import dev.onlyonce.sql.transactions.Transactions;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;

/**
 * Messages that are delivered at least once, such as webhooks, applied once: that a message has come is written in the
 * transaction of its effect, so that both are there or neither. It is remembered as an entry, whose key is the message's id in
 * a space of its own, for as long as {@link SqlStore#inbox} was told, and removed by the reaper like others. Safe for any
 * number of threads.
 */
public final class Inbox {
    /** Two deliveries of a message that meet: the second one waits so long for the first. */
    public static final Duration WAIT_MAX = Duration.ofSeconds(2);

    private static final String OPERATION = "inbox";

    private final Transactions transactions;

    public Inbox(Transactions transactions) {
        this.transactions = transactions;
    }

    /**
     * What a message does.
     *
     * @param <X> what it throws; passed to the caller by identity
     */
    @FunctionalInterface
    public interface Effect<X extends Exception> {
        /** Does it in the transaction. Must not commit, roll back or close the connection. */
        void apply(Connection transaction) throws X;
    }

    /**
     * Applies a message in a transaction of its own, unless it was applied before. If the effect throws, the message is not
     * remembered, and the next delivery applies it.
     *
     * @param source who sends it: ids are unique within a source
     * @param id the same for each delivery of a message; 1 to 255 visible ASCII characters
     * @return whether it was applied now
     * @throws X what the effect throws, after a rollback
     * @throws dev.onlyonce.MalformedKey if the id is not one
     * @throws TransactionConflict if it was rolled back because of concurrent work; call again
     * @throws StoreException if the database cannot answer, or the same message is just being applied: let it be
     *     delivered again
     */
    public <X extends Exception> boolean apply(String source, String id, Effect<X> effect) throws X {
        return isNew(transactions.execute(key(source, id), fingerprint(id), Codec.bytes(), once(effect)));
    }

    /**
     * Applies a message in the caller's transaction, unless it was applied before. What it returns holds when the caller
     * commits. If the effect throws, the transaction is as it was before this call.
     *
     * @param transaction a connection with auto-commit off
     * @throws X what the effect throws
     * @throws TransactionConflict if the transaction must be rolled back and run again
     * @throws StoreException as above
     */
    public <X extends Exception> boolean apply(Connection transaction, String source, String id, Effect<X> effect)
            throws X {
        return isNew(transactions.execute(transaction, key(source, id), fingerprint(id), Codec.bytes(), once(effect)));
    }

    private static Key key(String source, String id) {
        return Key.of(source, OPERATION, id).in(Scope.OPERATION);
    }

    /** Of the id alone: a message that comes again with another content is a repeat all the same. */
    private static Fingerprint fingerprint(String id) {
        return Fingerprint.of(id.getBytes(StandardCharsets.UTF_8));
    }

    private static <X extends Exception> TransactionalAction<byte[], X> once(Effect<X> effect) {
        return connection -> {
            effect.apply(connection);
            return new byte[0];
        };
    }

    private static boolean isNew(Outcome<byte[]> outcome) {
        if (outcome instanceof Outcome.InFlight) {
            throw new StoreBusy("the message is just being applied; let it be delivered again", null);
        }
        if (outcome instanceof Outcome.Unknown || outcome instanceof Outcome.Mismatched) {
            throw new IllegalStateException(
                    "the id was used by something else: no operation may have the name of the inbox, " + OPERATION);
        }
        return outcome instanceof Outcome.Executed;
    }
}
