package dev.onlyonce.messages.adapter;

import dev.onlyonce.Event;
import dev.onlyonce.Registry;
import dev.onlyonce.messages.DeadLetterReason;
import dev.onlyonce.messages.MessageCounts;
import dev.onlyonce.messages.PoisonMessage;
import dev.onlyonce.messages.ReceivedMessage;
import dev.onlyonce.messages.RetryLimits;
import dev.onlyonce.sql.inbox.Applied;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides what becomes of delivered messages: they are applied, put off or given up. Only {@link #counts} may be called by other threads
 * than the one that consumes.
 *
 * @param <R> what the broker delivered
 */
public final class Desk<R> implements AutoCloseable {
    /** How long a message waits that somebody else is just applying. */
    private static final Duration HELD_PAUSE = Duration.ofMillis(200);

    private static final Logger log = LoggerFactory.getLogger(Desk.class);

    private final Rules rules;
    private final DeadLetters<R> deadLetters;
    private final Counters counters = new Counters();
    private int storeFailures;
    private int burialFailures;

    /**
     * How it decides.
     *
     * @param application applies messages
     * @param reading finds their ids
     * @param retries limits the tries
     * @param registry for its time and its listeners
     */
    public record Rules(Application application, Reading<?> reading, RetryLimits retries, Registry registry) {
        /** For pauses. */
        public Time time() {
            return registry.time();
        }

        /** The consumer group: each applies each message once. */
        public String group() {
            return reading.group();
        }
    }

    /** With dead letters that it closes. */
    public Desk(Rules rules, DeadLetters<R> deadLetters) {
        this.rules = rules;
        this.deadLetters = deadLetters;
    }

    /** Takes a message. One without a usable id is given up, and becomes a dead letter when it is worked on. */
    public Letter<R> receive(ReceivedMessage message, @Nullable Object order, R record) {
        return receive(message, order, record, 0);
    }

    /**
     * Takes a message whose deliveries the broker counts.
     *
     * @param triesBefore how often it failed in earlier deliveries
     */
    public Letter<R> receive(ReceivedMessage message, @Nullable Object order, R record, int triesBefore) {
        Letter<R> letter = new Letter<>(message, order, record, now());
        letter.failedBefore(triesBefore);
        rules.reading.identify(letter);
        return letter;
    }

    /**
     * Applies letters, or sends them to the dead letters.
     *
     * @return those that are done, and to be acknowledged. The others are due later
     */
    public Set<Letter<R>> work(List<Letter<R>> due) {
        Set<Letter<R>> done = new HashSet<>();
        List<Letter<R>> fit =
                due.stream().filter(letter -> letter.verdict() == null).toList();
        if (!fit.isEmpty()) {
            try {
                List<Applied> applied = rules.application.apply(fit);
                for (int i = 0; i < fit.size(); i++) {
                    settle(fit.get(i), applied.get(i), done);
                }
                storeFailures = 0;
            } catch (RuntimeException | Error e) {
                putOffAll(fit, e);
            }
            // A handler's interrupt is its own: it must not end the thread that consumes.
            if (Thread.interrupted()) {
                log.warn("The handler of {} interrupted its thread, which goes on", rules.group());
            }
        }
        done.addAll(bury(due));
        return done;
    }

    /** The clock of the letters. */
    public long now() {
        return rules.time().nanos();
    }

    /** How many messages went which way. */
    public MessageCounts counts() {
        return counters.counts();
    }

    /** The store's trouble is not the messages': it costs them no try. */
    private void putOffAll(List<Letter<R>> letters, Throwable e) {
        Duration pause = rules.retries.pause(++storeFailures);
        log.warn("{} messages could not be applied and are tried again in {}", letters.size(), pause, e);
        long until = now() + pause.toNanos();
        letters.forEach(letter -> letter.putOff(until));
    }

    private void settle(Letter<R> letter, Applied applied, Set<Letter<R>> done) {
        if (applied instanceof Applied.Now) {
            counters.applied.increment();
            publish(letter, Event.Consumed.End.APPLIED, null);
            done.add(letter);
        } else if (applied instanceof Applied.Before) {
            counters.repeated.increment();
            publish(letter, Event.Consumed.End.REPEATED, null);
            done.add(letter);
        } else if (applied instanceof Applied.Mismatched) {
            letter.giveUp(new PoisonMessage(
                    DeadLetterReason.MISMATCH, "a message with this id and another body was applied before", null));
        } else if (applied instanceof Applied.Failed failed) {
            failed(letter, failed.cause());
        } else {
            letter.putOff(now() + HELD_PAUSE.toNanos());
        }
    }

    private void failed(Letter<R> letter, Exception cause) {
        Duration since = Duration.ofNanos(letter.failed(now()));
        if (cause instanceof PoisonMessage poison) {
            letter.giveUp(poison);
        } else if (rules.retries.isOver(letter.tries(), since)) {
            letter.giveUp(new PoisonMessage(
                    DeadLetterReason.TRIES_EXHAUSTED, "it failed in " + letter.tries() + " tries: " + cause, cause));
        } else {
            counters.retried.increment();
            publish(letter, Event.Consumed.End.RETRIED, null);
            Duration pause = rules.retries.pause(letter.tries());
            log.warn(
                    "{} {} failed in try {} and is tried again in {}",
                    letter.message().topic(),
                    letter.message().coordinates(),
                    letter.tries(),
                    pause,
                    cause);
            letter.putOff(now() + pause.toNanos());
        }
    }

    /** Sends those that are given up to the dead letters; returns those that are there. */
    private Set<Letter<R>> bury(List<Letter<R>> letters) {
        Map<Letter<R>, PoisonMessage> dead = new LinkedHashMap<>();
        for (Letter<R> letter : letters) {
            PoisonMessage verdict = letter.verdict();
            if (verdict != null) {
                dead.put(letter, verdict);
            }
        }
        if (dead.isEmpty()) {
            return Set.of();
        }
        Set<Letter<R>> buried = deadLetters.send(dead);
        burialFailures = buried.size() == dead.size() ? 0 : burialFailures + 1;
        dead.forEach((letter, verdict) -> {
            if (buried.contains(letter)) {
                counters.dead.increment();
                publish(letter, Event.Consumed.End.DEAD, verdict.reason().code());
                log.warn(
                        "{} {} is a dead letter: {}, {}",
                        letter.message().topic(),
                        letter.message().coordinates(),
                        verdict.reason(),
                        verdict.getMessage());
            } else {
                letter.putOff(now() + rules.retries.pause(burialFailures).toNanos());
            }
        });
        return buried;
    }

    private void publish(Letter<R> letter, Event.Consumed.End end, @Nullable String reason) {
        rules.registry.publish(
                new Event.Consumed(rules.group(), letter.message().topic(), end, reason));
    }

    /** Ends the application's threads and closes the dead letters. */
    @Override
    public void close() {
        rules.application.close();
        deadLetters.close();
    }
}
