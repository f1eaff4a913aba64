package dev.onlyonce.messages.adapter;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.Scope;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.messages.DeadLetterReason;
import dev.onlyonce.messages.LeasedHandler;
import dev.onlyonce.messages.PoisonMessage;
import dev.onlyonce.sql.inbox.Applied;
import dev.onlyonce.store.EntryUnreadable;
import dev.onlyonce.store.StoreException;
import java.time.Duration;
import java.util.List;

/**
 * Applies messages whose effects are outside the database, each under a lease: messages of one order in turn, the others at
 * once, so that their claims and settlements share statements. A message whose outcome is unknown is the reconciler's. It is given up, so
 * that it does not keep those behind it waiting, and its dead letter can be sent again if the reconciler finds that nothing happened.
 */
final class LeasedApplication<T> implements Application {
    private final Onlyonce once;
    private final Leasing<T> leasing;
    private final MessageReader<T> reader;

    LeasedApplication(Onlyonce once, Leasing<T> leasing, MessageReader<T> reader) {
        this.once = once;
        this.leasing = leasing;
        this.reader = reader;
    }

    /**
     * The handler, and how it is called.
     *
     * @param policy of the operation
     * @param concurrency how many threads call it for messages of one topic
     */
    record Leasing<T>(
            String operation, Policy policy, LeasedHandler<T> handler, int concurrency, Duration handlerMax) {}

    @Override
    public Duration handlerMax() {
        return leasing.handlerMax;
    }

    @Override
    public int concurrency() {
        return leasing.concurrency;
    }

    @Override
    public <R> List<Group<R>> split(List<PendingMessage<R>> due) {
        return TransactionalApplication.rows(due).stream()
                .map(row -> new Group<>(row, false))
                .toList();
    }

    @Override
    public void apply(HandlerRun run) {
        for (PendingMessage<?> pending : run.messages()) {
            if (run.isAbandoned()) {
                return;
            }
            Applied answer = applyOne(pending, run);
            run.answer(pending, answer);
            if (answer instanceof Applied.Failed || answer instanceof Applied.Held) {
                return;
            }
        }
    }

    /** A reconciler has to find out: the handler may still make its effect. */
    @Override
    public Applied abandoned(String why) {
        return new Applied.Failed(new PoisonMessage(DeadLetterReason.OUTCOME_UNKNOWN, why, null));
    }

    private Applied applyOne(PendingMessage<?> pending, HandlerRun run) {
        Key key = Key.of(
                        reader.source(pending),
                        leasing.operation,
                        requireNonNull(pending.identity()).id())
                .in(Scope.OPERATION);
        Fingerprint fingerprint = Fingerprint.of(pending.message().body());
        try {
            // Before the claim: what cannot be decoded has had no effect, and an exception in the action proves
            // nothing.
            T value = reader.decode(pending.message());
            Outcome<byte[]> outcome = once.registry()
                    .execute(key, fingerprint, leasing.policy, Codec.bytes(), claim -> {
                        run.handle(
                                pending,
                                HandlerRun.Hold.NOTHING,
                                () -> leasing.handler.apply(claim, value, pending.message()));
                        return new byte[0];
                    });
            return applied(key, outcome);
        } catch (PoisonMessage e) {
            return new Applied.Failed(e);
        } catch (EntryUnreadable e) {
            // Its own trouble: the store has answered.
            return new Applied.Failed(e);
        } catch (StoreException e) {
            throw e;
        } catch (Exception e) {
            // The next try tells what the exception proved: the entry is retryable, and executed again, or unknown.
            return new Applied.Failed(e);
        } catch (Error e) {
            return new Applied.Failed(new IllegalStateException("the handler broke: " + e, e));
        }
    }

    private static Applied applied(Key key, Outcome<byte[]> outcome) {
        if (outcome instanceof Outcome.Executed) {
            return new Applied.Now();
        }
        if (outcome instanceof Outcome.Unknown) {
            return new Applied.Failed(new PoisonMessage(
                    DeadLetterReason.OUTCOME_UNKNOWN,
                    "whether its effect happened is unknown: see the entry of " + key,
                    null));
        }
        return Applied.of(outcome);
    }
}
