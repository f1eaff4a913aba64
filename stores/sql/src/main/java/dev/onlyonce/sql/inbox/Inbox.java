package dev.onlyonce.sql.inbox;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.OutcomeException;
import dev.onlyonce.Policy;
import dev.onlyonce.Registry;
import dev.onlyonce.Scope;
import dev.onlyonce.Way;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.transactions.BatchRunner;
import dev.onlyonce.sql.transactions.GuardedConnection;
import dev.onlyonce.sql.transactions.TransactionConflict;
import dev.onlyonce.sql.transactions.TransactionRunner;
import dev.onlyonce.sql.transactions.TransactionalAction;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;

/**
 * Messages that are delivered at least once, such as webhooks, applied once: that a message has come is written in the
 * transaction of its effect, so that both are there or neither. It is remembered as an entry of the operation
 * {@link #OPERATION}, whose key is the message's id, for as long as that operation's retention, and purged like others. Safe
 * for any number of threads.
 */
public final class Inbox {
    /** The operation of all messages. Its retention must be longer than any sender goes on delivering. */
    public static final String OPERATION = "inbox";

    /** The retention, unless the operation has a policy of its own: longer than senders usually go on delivering. */
    public static final Duration RETENTION = Duration.ofDays(30);

    /** How long the second of two deliveries that meet waits for the first. */
    private static final Duration WAIT_MAX = Duration.ofSeconds(2);

    private final TransactionRunner runner;
    private final Policy policy;
    private final BatchApplication batches;

    private Inbox(TransactionRunner runner, BatchRunner batches, Policy policy) {
        this.runner = runner;
        this.policy = policy;
        this.batches = new BatchApplication(batches, runner, policy);
    }

    /**
     * With the policy of {@link #OPERATION}, the listeners and the name of an {@link Onlyonce}.
     *
     * @throws IllegalArgumentException if it is not built on a {@link SqlStore}
     * @throws IllegalStateException if it executes an operation of that name in another way
     */
    public static Inbox of(Onlyonce once) {
        Registry registry = once.registry();
        SqlStore store = SqlStore.of(once, "Inbox");
        TransactionRunner runner = new TransactionRunner(store.access(), registry);
        Policy.Builder policy =
                registry.policy(OPERATION, Way.INBOX).toBuilder().waitMax(WAIT_MAX);
        if (registry.ownPolicy(OPERATION).isEmpty()) {
            policy.retention(RETENTION);
        }
        return new Inbox(runner, new BatchRunner(store.access(), registry), policy.build());
    }

    /**
     * The effect of a message.
     *
     * @param <X> what it throws; passed to the caller by identity
     */
    @FunctionalInterface
    public interface Effect<X extends Exception> {
        /** Makes the effect in the transaction. Must not commit, roll back or close the connection. */
        void apply(Connection transaction) throws X;
    }

    /**
     * Applies a message in a transaction of its own, unless it was applied before. If the effect throws, the message is not
     * remembered, and the next delivery applies it.
     *
     * @return whether it was applied now
     * @throws X what the effect throws, after a rollback
     * @throws OutcomeException if a message with this id and other content was applied before, {@link Outcome.Mismatched}
     * @throws dev.onlyonce.MalformedKey if the id is not one
     * @throws StoreException if the database cannot answer, the same message is just being applied, or the transaction was rolled
     *     back because of concurrent work: let it be delivered again
     */
    public <X extends Exception> boolean apply(InboxMessage message, Effect<X> effect) throws X {
        try {
            return isNew(message, runner.execute(request(message), once(effect)));
        } catch (TransactionConflict e) {
            throw new StoreBusy("the transaction conflicts with another one, and nothing happened", e);
        }
    }

    /**
     * Applies a message in the caller's transaction, unless it was applied before. The answer holds when the caller commits. If
     * the effect throws, the transaction is as it was before this call.
     *
     * @param transaction a connection with auto-commit off
     * @throws X what the effect throws
     * @throws OutcomeException as above; the transaction is unharmed
     * @throws TransactionConflict if the transaction must be rolled back and run again
     * @throws StoreException if the database cannot answer, or the same message is just being applied: let it be delivered again
     */
    public <X extends Exception> boolean apply(Connection transaction, InboxMessage message, Effect<X> effect)
            throws X {
        return isNew(message, runner.execute(transaction, request(message), once(effect)));
    }

    /**
     * Applies a batch of messages in one transaction of its own, with one statement for all claims. One that fails is undone alone; the
     * others are applied. An id that occurs twice is applied once.
     *
     * @return what became of each, in the same order; all of it is committed
     * @throws dev.onlyonce.MalformedKey if an id is not one; nothing was applied
     * @throws TransactionConflict if a message was rolled back because of concurrent work; call again
     * @throws StoreException if the database cannot answer. Some may have been applied; calling again tells
     */
    public List<Applied> applyAll(List<InboxDelivery> deliveries) {
        return batches.apply(deliveries);
    }

    /**
     * Applies messages as {@link #applyAll} does, but each in a transaction of its own: for those that were not applied together with
     * others.
     *
     * @throws StoreException if the database cannot answer, also not for the others. Some may have been applied; calling again tells
     */
    public List<Applied> applyAlone(List<InboxDelivery> deliveries) {
        return batches.applyAlone(deliveries);
    }

    /**
     * Cancels the statement that an effect of a batch is waiting for, from another thread. May block.
     *
     * @param transaction the connection that the effect got; it must not have ended
     */
    public static void cancel(Connection transaction) {
        GuardedConnection.cancel(transaction);
    }

    /** Cuts the connection of an effect of a batch, from another thread: nothing of its transaction stays. May block. */
    public static void cut(Connection transaction) {
        GuardedConnection.cut(transaction);
    }

    private TransactionRunner.Request<byte[]> request(InboxMessage message) {
        return new TransactionRunner.Request<>(key(message), fingerprint(message), policy, Codec.bytes(), true);
    }

    static Key key(InboxMessage message) {
        return Key.of(message.source(), OPERATION, message.id()).in(Scope.OPERATION);
    }

    /**
     * The id, bound to the content as a request is bound to its caller's credentials: what was remembered by its id alone, by an
     * earlier release too, matches any content.
     */
    static Fingerprint fingerprint(InboxMessage message) {
        Fingerprint name = Fingerprint.of(message.id().getBytes(StandardCharsets.UTF_8));
        Fingerprint content = message.content();
        if (content == null) {
            // Stored as the id alone, but it can be compared with one that is bound.
            return name.boundTo("").in(name.version()).orElseThrow();
        }
        // Without its secret, if it has one: secrets get replaced while messages are remembered.
        Fingerprint plain = content.in(name.version()).orElse(content);
        return name.boundTo(plain.version() + ":" + HexFormat.of().formatHex(plain.digest()));
    }

    static <X extends Exception> TransactionalAction<byte[], X> once(Effect<X> effect) {
        return connection -> {
            effect.apply(connection);
            return new byte[0];
        };
    }

    private static boolean isNew(InboxMessage message, Outcome<byte[]> outcome) {
        if (outcome instanceof Outcome.InFlight) {
            throw new StoreBusy("the message is just being applied; let it be delivered again", null);
        }
        if (outcome instanceof Outcome.Mismatched<byte[]> other
                && other.reason() == Outcome.Mismatched.Reason.REQUEST) {
            if (message.content() != null) {
                throw new OutcomeException("a message with this id and other content was applied before", outcome);
            }
            return false;
        }
        if (outcome instanceof Outcome.Unknown || outcome instanceof Outcome.Mismatched) {
            throw new IllegalStateException(
                    "the id was used by something else: no operation may have the name of the inbox, " + OPERATION);
        }
        return outcome instanceof Outcome.Executed;
    }
}
