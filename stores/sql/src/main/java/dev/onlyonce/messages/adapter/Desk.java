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
public final class Desk<R> implements AutoCloseable {
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

    private static final Logger log = LoggerFactory.getLogger(Desk.class);

    private final Rules rules;
    private final DeadLetters<R> deadLetters;
    private final Rounds<R> rounds;
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
        this.rounds = new Rounds<>(rules.application, rules.registry, rules.group());
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
     * Applies letters, or sends them to the dead letters. Waits for a short while; those that take longer are running until a later call
     * returns them.
     *
     * @return those that are done, and to be acknowledged, also of earlier calls. The others are due later, or running
     */
    public Set<Letter<R>> work(List<Letter<R>> due) {
        return work(due, WORK_MAX);
    }

    private Set<Letter<R>> work(List<Letter<R>> due, Duration max) {
        Set<Letter<R>> done = new HashSet<>();
        Ends ends = new Ends(done);
        List<Application.Group<R>> waiting = groups(due);
        long begun = now();
        rounds.collect(ends);
        while (true) {
            waiting = rounds.start(waiting);
            long left = max.toNanos() - (now() - begun);
            boolean isWaiting = !waiting.isEmpty() || due.stream().anyMatch(Letter::isRunning);
            if (!isWaiting || left <= 0) {
                break;
            }
            rounds.await(Duration.ofNanos(left));
            rounds.collect(ends);
        }
        done.addAll(bury(due));
        return done;
    }

    private List<Application.Group<R>> groups(List<Letter<R>> due) {
        Map<String, List<Letter<R>>> topics = new LinkedHashMap<>();
        for (Letter<R> letter : due) {
            if (letter.verdict() == null) {
                topics.computeIfAbsent(letter.message().topic(), topic -> new ArrayList<>())
                        .add(letter);
            }
        }
        List<Application.Group<R>> groups = new ArrayList<>();
        topics.values().forEach(letters -> groups.addAll(rules.application.split(letters)));
        return groups;
    }

    /** Waits for letters that are running when the consumer ends, within a bound; returns those that are done. */
    public Set<Letter<R>> finish() {
        Set<Letter<R>> done = new HashSet<>();
        long begun = now();
        while (rounds.isBusy() && now() - begun < FINISH_MAX.toNanos()) {
            done.addAll(work(List.of(), Duration.ZERO));
            if (rounds.isBusy()) {
                rounds.await(WORK_MAX);
            }
        }
        done.addAll(work(List.of(), Duration.ZERO));
        return done;
    }

    /** Takes what the rounds report. */
    private final class Ends implements Rounds.Ends<R> {
        private final Set<Letter<R>> done;
        private boolean isTroubled;

        Ends(Set<Letter<R>> done) {
            this.done = done;
        }

        @Override
        public void answered(Letter<R> letter, Applied applied) {
            storeFailures = 0;
            settle(letter, applied, done);
        }

        @Override
        public void unanswered(List<Letter<R>> letters, @Nullable Throwable trouble) {
            if (trouble == null) {
                // Behind one that was not applied, or with one whose handler was given up.
                letters.forEach(letter -> letter.putOff(now()));
                return;
            }
            if (!isTroubled) {
                isTroubled = true;
                storeFailures++;
            }
            putOffAll(letters, trouble);
        }

        @Override
        public void interrupted(Letter<R> letter) {
            counters.hung.increment();
            publish(letter, Event.Consumed.End.HUNG, null);
        }
    }

    /** The clock of the letters. */
    public long now() {
        return rules.time().nanos();
    }

    /** Handlers that take longer than they may, by topic. Any thread may ask. */
    public Map<String, Integer> hung() {
        return rounds.hung();
    }

    /** How many messages went which way. */
    public MessageCounts counts() {
        return counters.counts();
    }

    /** The store's trouble is not the messages': it costs them no try. */
    private void putOffAll(List<Letter<R>> letters, Throwable e) {
        Duration pause = rules.retries.pause(storeFailures);
        letters.forEach(Letter::troubled);
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
            int times = letter.heldAgain();
            Duration pause = HELD_PAUSE.multipliedBy(Math.min(times, HELD_PAUSES_MAX));
            letter.putOff(now() + pause.toNanos());
            if (times % HELD_LOGGED == 0) {
                log.warn(
                        "{} {} still waits for somebody else who is applying it",
                        letter.message().topic(),
                        letter.message().coordinates());
            }
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
                publish(new Event.GivenUp(
                        rules.group(),
                        letter.message().topic(),
                        letter.message().coordinates(),
                        verdict.reason().code(),
                        String.valueOf(verdict.getMessage()),
                        letter.tries(),
                        letter.message().body()));
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
        publish(new Event.Consumed(rules.group(), letter.message().topic(), end, reason));
    }

    private void publish(Event event) {
        rules.registry.background(() -> rules.registry.publish(event));
    }

    /** Ends the application's threads and closes the dead letters. */
    @Override
    public void close() {
        rounds.close();
        deadLetters.close();
    }
}
