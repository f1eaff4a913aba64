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
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides what becomes of delivered messages: they are applied, put off or given up. Only {@link #counts} and {@link #hung} may be called by other threads
 * than the one that consumes.
 *
 * @param <R> what the broker delivered
 */
public final class MessageDispatcher<R> implements AutoCloseable {
    /** How long a message waits that somebody else is just applying. */
    private static final Duration HELD_PAUSE = Duration.ofMillis(200);
    /** The pause grows to two seconds. */
    private static final int HELD_PAUSES_MAX = 10;
    /** About every minute. */
    private static final int HELD_LOGGED = 30;
    /** A consumer must go on asking its broker, or it counts as dead. */
    private static final Duration WORK_MAX = Duration.ofMillis(200);
    /** Less than a consumer takes to close. */
    private static final Duration FINISH_MAX = Duration.ofSeconds(20);

    private static final Logger log = LoggerFactory.getLogger(MessageDispatcher.class);

    private final Rules rules;
    private final DeadLetters<R> deadLetters;
    private final HandlerThreads<R> threads;
    private final Counters counters = new Counters();
    private int storeFailures;
    private int burialFailures;

    /**
     * How it decides.
     *
     * @param application applies messages
     * @param reader finds their ids
     * @param retries limits the tries
     * @param registry for its time and its listeners
     */
    public record Rules(Application application, MessageReader<?> reader, RetryLimits retries, Registry registry) {
        /** For pauses. */
        public Time time() {
            return registry.time();
        }

        /** The consumer group: each applies each message once. */
        public String group() {
            return reader.group();
        }
    }

    /** With dead letters that it closes. */
    public MessageDispatcher(Rules rules, DeadLetters<R> deadLetters) {
        this.rules = rules;
        this.deadLetters = deadLetters;
        this.threads = new HandlerThreads<>(rules.application, rules.registry, rules.group());
    }

    /** Takes a message. One without a usable id is given up, and becomes a dead letter when it is worked on. */
    public PendingMessage<R> receive(ReceivedMessage message, @Nullable Object order, R record) {
        return receive(message, order, record, 0);
    }

    /**
     * Takes a message whose deliveries the broker counts.
     *
     * @param triesBefore how often it failed in earlier deliveries
     */
    public PendingMessage<R> receive(ReceivedMessage message, @Nullable Object order, R record, int triesBefore) {
        PendingMessage<R> pending = new PendingMessage<>(message, order, record, now());
        pending.failedBefore(triesBefore);
        rules.reader.identify(pending);
        return pending;
    }

    /**
     * Applies messages, or sends them to the dead letters. Waits for a short while; those that take longer are running until a later call
     * returns them.
     *
     * @return those that are done, and to be acknowledged, also of earlier calls. The others are due later, or running
     */
    public Set<PendingMessage<R>> work(List<PendingMessage<R>> due) {
        return work(due, WORK_MAX);
    }

    private Set<PendingMessage<R>> work(List<PendingMessage<R>> due, Duration max) {
        Set<PendingMessage<R>> done = new HashSet<>();
        Ends ends = new Ends(done);
        List<Application.Group<R>> waiting = groups(due);
        long begun = now();
        threads.collect(ends);
        while (true) {
            waiting = threads.start(waiting);
            long left = max.toNanos() - (now() - begun);
            boolean isWaiting = !waiting.isEmpty() || due.stream().anyMatch(PendingMessage::isRunning);
            if (!isWaiting || left <= 0) {
                break;
            }
            threads.await(Duration.ofNanos(left));
            threads.collect(ends);
        }
        done.addAll(bury(due));
        return done;
    }

    private List<Application.Group<R>> groups(List<PendingMessage<R>> due) {
        Map<String, List<PendingMessage<R>>> topics = new LinkedHashMap<>();
        for (PendingMessage<R> pending : due) {
            if (pending.verdict() == null) {
                topics.computeIfAbsent(pending.message().topic(), topic -> new ArrayList<>())
                        .add(pending);
            }
        }
        List<Application.Group<R>> groups = new ArrayList<>();
        topics.values().forEach(messages -> groups.addAll(rules.application.split(messages)));
        return groups;
    }

    /** Waits for messages that are running when the consumer ends, within a bound; returns those that are done. */
    public Set<PendingMessage<R>> finish() {
        Set<PendingMessage<R>> done = new HashSet<>();
        long begun = now();
        while (threads.isBusy() && now() - begun < FINISH_MAX.toNanos()) {
            done.addAll(work(List.of(), Duration.ZERO));
            if (threads.isBusy()) {
                threads.await(WORK_MAX);
            }
        }
        done.addAll(work(List.of(), Duration.ZERO));
        return done;
    }

    /** Takes what the threads report. */
    private final class Ends implements HandlerThreads.Ends<R> {
        private final Set<PendingMessage<R>> done;
        private boolean isTroubled;

        Ends(Set<PendingMessage<R>> done) {
            this.done = done;
        }

        @Override
        public void answered(PendingMessage<R> pending, Applied applied) {
            storeFailures = 0;
            settle(pending, applied, done);
        }

        @Override
        public void unanswered(List<PendingMessage<R>> messages, @Nullable Throwable trouble) {
            if (trouble == null) {
                // Behind one that was not applied, or with one whose handler was given up.
                messages.forEach(pending -> pending.putOff(now()));
                return;
            }
            if (!isTroubled) {
                isTroubled = true;
                storeFailures++;
            }
            putOffAll(messages, trouble);
        }

        @Override
        public void interrupted(PendingMessage<R> pending) {
            counters.hung.increment();
            publish(pending, Event.Consumed.End.HUNG, null);
        }
    }

    /** For pauses. */
    Time time() {
        return rules.time();
    }

    /** The clock of the messages. */
    public long now() {
        return rules.time().nanos();
    }

    /** Handlers that take longer than they may, by topic. Any thread may ask. */
    public Map<String, Integer> hung() {
        return threads.hung();
    }

    /** How many messages went which way. */
    public MessageCounts counts() {
        return counters.counts();
    }

    /** The store's trouble is not the messages': it costs them no try. */
    private void putOffAll(List<PendingMessage<R>> messages, Throwable e) {
        Duration pause = rules.retries.pause(storeFailures);
        messages.forEach(PendingMessage::troubled);
        log.warn("{} messages could not be applied and are tried again in {}", messages.size(), pause, e);
        long until = now() + pause.toNanos();
        messages.forEach(pending -> pending.putOff(until));
    }

    private void settle(PendingMessage<R> pending, Applied applied, Set<PendingMessage<R>> done) {
        if (applied instanceof Applied.Now) {
            counters.applied.increment();
            publish(pending, Event.Consumed.End.APPLIED, null);
            done.add(pending);
        } else if (applied instanceof Applied.Before) {
            counters.repeated.increment();
            publish(pending, Event.Consumed.End.REPEATED, null);
            done.add(pending);
        } else if (applied instanceof Applied.Mismatched) {
            pending.giveUp(new PoisonMessage(
                    DeadLetterReason.MISMATCH, "a message with this id and another body was applied before", null));
        } else if (applied instanceof Applied.Failed failed) {
            failed(pending, failed.cause());
        } else {
            int times = pending.heldAgain();
            Duration pause = HELD_PAUSE.multipliedBy(Math.min(times, HELD_PAUSES_MAX));
            pending.putOff(now() + pause.toNanos());
            if (times % HELD_LOGGED == 0) {
                log.warn(
                        "{} {} still waits for somebody else who is applying it",
                        pending.message().topic(),
                        pending.message().coordinates());
            }
        }
    }

    private void failed(PendingMessage<R> pending, Exception cause) {
        Duration since = Duration.ofNanos(pending.failed(now()));
        if (cause instanceof PoisonMessage poison) {
            pending.giveUp(poison);
        } else if (rules.retries.isOver(pending.tries(), since)) {
            pending.giveUp(new PoisonMessage(
                    DeadLetterReason.TRIES_EXHAUSTED, "it failed in " + pending.tries() + " tries: " + cause, cause));
        } else {
            counters.retried.increment();
            publish(pending, Event.Consumed.End.RETRIED, null);
            Duration pause = rules.retries.pause(pending.tries());
            log.warn(
                    "{} {} failed in try {} and is tried again in {}",
                    pending.message().topic(),
                    pending.message().coordinates(),
                    pending.tries(),
                    pause,
                    cause);
            pending.putOff(now() + pause.toNanos());
        }
    }

    /** Sends those that are given up to the dead letters; returns those that are there. */
    private Set<PendingMessage<R>> bury(List<PendingMessage<R>> messages) {
        Map<PendingMessage<R>, PoisonMessage> dead = new LinkedHashMap<>();
        for (PendingMessage<R> pending : messages) {
            PoisonMessage verdict = pending.verdict();
            if (verdict != null) {
                dead.put(pending, verdict);
            }
        }
        if (dead.isEmpty()) {
            return Set.of();
        }
        Set<PendingMessage<R>> buried = deadLetters.send(dead);
        burialFailures = buried.size() == dead.size() ? 0 : burialFailures + 1;
        dead.forEach((pending, verdict) -> {
            if (buried.contains(pending)) {
                counters.dead.increment();
                publish(pending, Event.Consumed.End.DEAD, verdict.reason().code());
                publish(new Event.GivenUp(
                        rules.group(),
                        pending.message().topic(),
                        pending.message().coordinates(),
                        verdict.reason().code(),
                        String.valueOf(verdict.getMessage()),
                        pending.tries(),
                        pending.message().body()));
                log.warn(
                        "{} {} is a dead letter: {}, {}",
                        pending.message().topic(),
                        pending.message().coordinates(),
                        verdict.reason(),
                        verdict.getMessage());
            } else {
                pending.putOff(now() + rules.retries.pause(burialFailures).toNanos());
            }
        });
        return buried;
    }

    private void publish(PendingMessage<R> pending, Event.Consumed.End end, @Nullable String reason) {
        publish(new Event.Consumed(rules.group(), pending.message().topic(), end, reason));
    }

    private void publish(Event event) {
        rules.registry.background(() -> rules.registry.publish(event));
    }

    /** Ends the application's threads and closes the dead letters. */
    @Override
    public void close() {
        threads.close();
        deadLetters.close();
    }
}
