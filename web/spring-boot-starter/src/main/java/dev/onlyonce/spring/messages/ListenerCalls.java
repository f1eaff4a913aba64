package dev.onlyonce.spring.messages;

import dev.onlyonce.Event;
import dev.onlyonce.Key;
import dev.onlyonce.NotExecuted;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.OutcomeException;
import dev.onlyonce.Scope;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.messages.DeadLetterReason;
import dev.onlyonce.messages.MessageId;
import dev.onlyonce.messages.MessageIdentity;
import dev.onlyonce.messages.PoisonMessage;
import dev.onlyonce.messages.ReceivedMessage;
import dev.onlyonce.spring.UnusableMessage;
import dev.onlyonce.spring.operations.InvalidSettings;
import dev.onlyonce.spring.operations.KeyedCall;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls of {@code @Idempotent} listeners, each of which takes effect once for its message.
 *
 * <ol>
 *   <li>The key is the message's id, in the name space of the consumer group and the producer. The fingerprint is that of the body.
 *   <li>A message that was applied before is done. One whose outcome is unknown is the reconciler's, and does not keep those behind it
 *       waiting: it becomes a dead letter, which can be sent again if nothing has happened.
 *   <li>While somebody else is applying it, and when the listener fails, an exception lets the container deliver it again.
 *   <li>A message without an id, or with a known id and another body, is {@link UnusableMessage}.
 *   <li>A listener that takes too long is interrupted: its container's thread has no other work to do meanwhile, and its broker may take
 *       the consumer for dead.
 * </ol>
 */
public final class ListenerCalls {
    private static final Logger log = LoggerFactory.getLogger(ListenerCalls.class);

    private final Onlyonce once;
    private final MessageId ids;

    private final Duration handlerMax;
    /** Those that were interrupted and have not returned. */
    private final Set<Overdue> hung = ConcurrentHashMap.newKeySet();

    public ListenerCalls(Onlyonce once, MessageId ids, Duration handlerMax) {
        if (handlerMax.isNegative() || handlerMax.isZero()) {
            throw new InvalidSettings(
                    "onlyonce.messages.handler-max is " + handlerMax + ", but a listener needs some time",
                    "Give more than its slowest call takes, and less than the broker waits for a consumer, e.g. 1m.",
                    null);
        }
        this.once = once;
        this.ids = ids;
        this.handlerMax = handlerMax;
    }

    /** Executes the listener in its way. */
    public interface Execution {
        Outcome<Optional<Object>> run(KeyedCall asked) throws Exception;
    }

    /** Calls the listener, unless the message was applied before; returns what it returned. */
    public Optional<Object> call(String operation, Execution execution) throws Exception {
        CurrentMessage.Delivered delivered = CurrentMessage.get();
        if (delivered == null) {
            throw new IllegalStateException(operation + " is an @Idempotent listener, but it was not called with one"
                    + " message by a container that Spring Boot has configured."
                    + " Batch listeners, and containers that are registered after"
                    + " the start, are not protected: give it a key, @Idempotent(key"
                    + " = \"...\")");
        }
        try {
            ReceivedMessage message = delivered.reading().get();
            MessageIdentity identity = ids.require(message);
            Key key = Key.of(identity.source(delivered.group()), operation, identity.id())
                    .in(Scope.OPERATION);
            return ended(delivered, key, execution.run(new KeyedCall(key, Fingerprint.of(message.body()), true)));
        } catch (PoisonMessage e) {
            publish(delivered, Event.Consumed.End.DEAD, e.reason().code());
            throw new UnusableMessage(e);
        } catch (Exception | Error e) {
            publish(delivered, Event.Consumed.End.RETRIED, null);
            throw e;
        }
    }

    /** Calls a listener's method, for no longer than it may take. */
    public <T> T inTime(String operation, Callable<T> method) throws Exception {
        Overdue overdue = new Overdue(operation, Thread.currentThread(), CurrentMessage.get());
        overdue.schedule();
        try {
            return method.call();
        } catch (NotExecuted e) {
            if (overdue.wasInterrupted()) {
                // The interrupt may have come between the effect and its answer.
                throw new IllegalStateException(
                        "the listener did not return within " + handlerMax + ": whether it took effect is unknown", e);
            }
            throw e;
        } finally {
            overdue.end();
        }
    }

    /** How many listeners were interrupted and have not returned, by operation. */
    Map<String, Integer> hung() {
        Map<String, Integer> found = new TreeMap<>();
        hung.forEach(each -> found.merge(each.operation, 1, Integer::sum));
        return found;
    }

    /** Interrupts a listener, and says so again for as long as it does not return. */
    private final class Overdue {
        private final String operation;
        private final Thread thread;
        private final CurrentMessage.@Nullable Delivered delivered;
        private Time.@Nullable Scheduled next;
        private boolean interrupted;
        private boolean ended;

        Overdue(String operation, Thread thread, CurrentMessage.@Nullable Delivered delivered) {
            this.operation = operation;
            this.thread = thread;
            this.delivered = delivered;
        }

        synchronized void schedule() {
            next = once.registry().time().schedule(handlerMax, this::interrupt);
        }

        private void interrupt() {
            synchronized (this) {
                if (ended) {
                    return;
                }
                thread.interrupt();
                schedule();
                log.error(
                        "The listener {} has {} returned after onlyonce.messages.handler-max, {}, and is interrupted."
                                + " Until it returns, its container consumes nothing on this thread",
                        operation,
                        interrupted ? "still not" : "not",
                        handlerMax);
                if (interrupted) {
                    return;
                }
                interrupted = true;
                hung.add(this);
            }
            if (delivered != null) {
                // On a thread that everything in the background shares.
                once.registry().background(() -> publish(delivered, Event.Consumed.End.HUNG, null));
            }
        }

        synchronized boolean wasInterrupted() {
            return interrupted;
        }

        synchronized void end() {
            ended = true;
            if (next != null) {
                next.cancel();
            }
            if (interrupted) {
                // It has done its work; the container's thread goes on.
                Thread.interrupted();
                hung.remove(this);
            }
        }
    }

    private Optional<Object> ended(CurrentMessage.Delivered delivered, Key key, Outcome<Optional<Object>> outcome) {
        if (outcome instanceof Outcome.Executed<Optional<Object>> executed) {
            publish(delivered, Event.Consumed.End.APPLIED, null);
            return executed.value();
        }
        if (outcome instanceof Outcome.InFlight) {
            throw new OutcomeException("somebody else is applying the message just now", outcome);
        }
        if (outcome instanceof Outcome.Mismatched) {
            throw new PoisonMessage(
                    DeadLetterReason.MISMATCH, "a message with this id and another body was applied before", null);
        }
        if (outcome instanceof Outcome.Failed<Optional<Object>> failed) {
            throw new PoisonMessage(DeadLetterReason.REJECTED, "it failed for good before: " + failed.failure(), null);
        }
        if (outcome instanceof Outcome.Unknown) {
            log.warn("The outcome of {} is unknown: the reconciler or an operator has to find out", key);
            throw new PoisonMessage(
                    DeadLetterReason.OUTCOME_UNKNOWN, "whether it took effect is unknown; its entry waits", null);
        }
        publish(delivered, Event.Consumed.End.REPEATED, null);
        return outcome instanceof Outcome.Replayed<Optional<Object>> replayed ? replayed.value() : Optional.empty();
    }

    private void publish(CurrentMessage.Delivered delivered, Event.Consumed.End end, @Nullable String reason) {
        once.registry().publish(new Event.Consumed(delivered.group(), delivered.topic(), end, reason));
    }
}
