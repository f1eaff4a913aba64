package dev.onlyonce.sql.outbox;

import dev.onlyonce.Event;
import dev.onlyonce.Key;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.Registry;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.internal.connections.SqlFailure;
import dev.onlyonce.sql.internal.entries.AuditRow;
import dev.onlyonce.sql.internal.entries.InTransaction;
import dev.onlyonce.sql.internal.entries.NameCheck;
import dev.onlyonce.sql.transactions.ClaimRound;
import dev.onlyonce.sql.transactions.Savepoints;
import dev.onlyonce.sql.transactions.TransactionalAction;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.Tokens;
import dev.onlyonce.store.Transition;
import java.io.Serial;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;

/** Puts a pending entry and a row into the caller's transaction. */
final class Acceptance {
    /** When a client is asked to come back. */
    static final Duration RETRY_AFTER = Duration.ofSeconds(1);

    private final OutboxContext context;

    Acceptance(OutboxContext context) {
        this.context = context;
    }

    /**
     * One request.
     *
     * @param lasting whether it must not be taken for a duplicate unless it is proven to be one: the caller commits without it
     */
    record Request<X extends Exception>(
            Key key,
            Fingerprint fingerprint,
            Policy policy,
            TransactionalAction<OutboxCall, X> action,
            boolean lasting) {}

    /** Keeps the exceptions of the action apart from those of our own statements. */
    private static final class ActionFailed extends Exception {
        @Serial
        private static final long serialVersionUID = 1;

        private final Exception thrown;

        ActionFailed(Exception thrown) {
            super(null, thrown, false, false);
            this.thrown = thrown;
        }

        /** Safe: the action's signature allows it to throw this and nothing else. */
        @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
        <X extends Exception> X thrown() {
            return (X) thrown;
        }
    }

    /** As {@link Outbox#accept}. */
    <X extends Exception> Accepted<byte[]> accept(Connection transaction, Request<X> request) throws X {
        NameCheck.check("tenant", request.key.tenant());
        NameCheck.check("operation", request.key.operation());
        Savepoint savepoint = Savepoints.set(transaction);
        try {
            Accepted<byte[]> accepted = claim(transaction, request);
            transaction.releaseSavepoint(savepoint);
            return publish(request.key, accepted);
        } catch (SQLException e) {
            SqlFailure failure = SqlFailure.of(context.database().kind(), e);
            boolean back = Savepoints.goBack(transaction, savepoint, e);
            if (failure.isWait() && !back) {
                throw Savepoints.lost(e);
            }
            if (failure.isWait() && !request.lasting) {
                return publish(request.key, new Accepted.Existing<>(new Outcome.InFlight<>(true, RETRY_AFTER)));
            }
            throw Savepoints.exception(failure, e);
        } catch (ActionFailed e) {
            if (!Savepoints.goBack(transaction, savepoint, e.thrown)) {
                throw Savepoints.lost(e.thrown);
            }
            throw e.<X>thrown();
        } catch (Throwable e) {
            Savepoints.goBack(transaction, savepoint, e);
            throw e;
        }
    }

    private <X extends Exception> void queue(Connection transaction, EntryId id, Request<X> request)
            throws SQLException, ActionFailed {
        OutboxCall call;
        try {
            call = request.action.run(transaction);
        } catch (Exception e) {
            throw new ActionFailed(e);
        }
        NameCheck.check("topic", call.topic());
        if (call.orderKey() != null) {
            NameCheck.check("order key", call.orderKey());
        }
        int length = call.payload().length;
        int max = context.settings().load().payloadBytesMax();
        if (length > max) {
            throw new IllegalArgumentException("the payload has " + length + " bytes, and " + max
                    + " are allowed: store it elsewhere and put a reference here, or raise payloadBytesMax");
        }
        boolean queued = context.table().insert(transaction, id, call) == 1
                && (!call.lasting() || context.lasting().accepted(transaction, id) == 1);
        if (!queued) {
            throw new StoreBusy("the entry was purged or evicted while being accepted", null);
        }
    }

    private <X extends Exception> Accepted<byte[]> claim(Connection transaction, Request<X> request)
            throws SQLException, ActionFailed {
        ClaimRequest claim = new ClaimRequest(
                request.key.entryId(),
                request.key.operation(),
                request.fingerprint,
                Tokens.next(),
                context.settings().name(),
                context.settings().acceptTerms(request.policy),
                State.PENDING);
        ClaimRound.Result result =
                new ClaimRound(context.access()).claim(transaction, claim, InTransaction.Bounds.of(request.policy));
        if (result instanceof ClaimRound.Result.Found found) {
            return existing(transaction, request, found.entry());
        }
        queue(transaction, claim.id(), request);
        return new Accepted.New<>();
    }

    private <X extends Exception> Accepted<byte[]> existing(Connection transaction, Request<X> request, Entry entry)
            throws SQLException, ActionFailed {
        Outcome<byte[]> outcome = answer(request.key, request.fingerprint, entry);
        boolean left = entry.state() == State.RETRYABLE && outcome instanceof Outcome.InFlight;
        if (left && context.table().find(transaction, entry.id()).isEmpty()) {
            // An operator has dropped its row, and then it was proven that nothing had happened.
            queue(transaction, entry.id(), request);
        }
        return new Accepted.Existing<>(outcome);
    }

    /** Whatever is in flight here is a worker's business: the client is asked to come back. */
    static Outcome<byte[]> answer(Key key, Fingerprint fingerprint, Entry entry) {
        Outcome<byte[]> outcome = Registry.answer(key, fingerprint, entry, RETRY_AFTER);
        return outcome instanceof Outcome.InFlight ? new Outcome.InFlight<>(true, RETRY_AFTER) : outcome;
    }

    private Accepted<byte[]> publish(Key key, Accepted<byte[]> accepted) {
        if (!accepted.isNew()) {
            context.publish(new Event.Decided(key, Event.Decision.of(accepted.outcome())));
            return accepted;
        }
        context.publish(new Event.Decided(key, Event.Decision.CREATED));
        context.publish(new Event.Changed(new Transition(
                key.entryId(),
                key.operation(),
                null,
                State.PENDING,
                0,
                context.settings().name(),
                AuditRow.ACCEPTED)));
        return accepted;
    }
}
