package dev.onlyonce.kafka;

import dev.onlyonce.messages.DeadLetterReason;
import dev.onlyonce.messages.PoisonMessage;
import dev.onlyonce.messages.RetryLimits;
import dev.onlyonce.sql.inbox.Applied;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.WakeupException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Polls and applies, on one thread.
 *
 * <ol>
 *   <li>A poll's records join the lanes of their partitions. A partition whose lane is not empty is paused, so no lane grows beyond
 *       one poll.
 *   <li>The records that are due are applied, all in one batch.
 *   <li>Those that are done leave their lanes. Those that are given up leave them when the dead-letter topic has acknowledged them. The
 *       others wait, with growing pauses, while the thread goes on polling: the consumer keeps its partitions.
 *   <li>Last, the offset of the first record that is not done is committed. If that fails, or the process dies before, the records are
 *       delivered again and recognised.
 * </ol>
 */
final class PollLoop implements ConsumerRebalanceListener {
    private static final Duration POLL_MAX = Duration.ofMillis(500);
    private static final Duration COMMIT_MAX = Duration.ofSeconds(10);
    /** How long a record waits that somebody else is just applying. */
    private static final Duration HELD_PAUSE = Duration.ofMillis(200);

    private static final Logger log = LoggerFactory.getLogger(PollLoop.class);

    private final Consumer<byte[], byte[]> consumer;
    private final Parts parts;
    private final Map<TopicPartition, Lane> lanes = new HashMap<>();
    private int storeFailures;

    /** What the loop works with. */
    record Parts(
            Application application,
            Reading<?> reading,
            DeadLetterTopic deadLetters,
            RetryLimits retries,
            Counters counters,
            Time time) {}

    PollLoop(Consumer<byte[], byte[]> consumer, Parts parts) {
        this.consumer = consumer;
        this.parts = parts;
    }

    void run(Collection<String> topics, BooleanSupplier running) {
        consumer.subscribe(topics, this);
        while (running.getAsBoolean()) {
            try {
                consumer.poll(idle(now())).forEach(this::receive);
            } catch (WakeupException e) {
                continue;
            }
            List<Letter> due = new ArrayList<>();
            lanes.values().forEach(lane -> due.addAll(lane.due(now())));
            if (!due.isEmpty()) {
                work(due);
            }
            commit();
            pauseOrResume();
        }
    }

    private long now() {
        return parts.time.nanos();
    }

    private Duration idle(long now) {
        long nanos = POLL_MAX.toNanos();
        for (Lane lane : lanes.values()) {
            nanos = Math.min(nanos, lane.idleNanos(now));
        }
        return Duration.ofNanos(nanos);
    }

    private void receive(ConsumerRecord<byte[], byte[]> record) {
        Letter letter = new Letter(record, now());
        parts.reading.identify(letter);
        lanes.computeIfAbsent(new TopicPartition(record.topic(), record.partition()), partition -> new Lane())
                .add(letter);
    }

    private void work(List<Letter> due) {
        Set<Letter> done = new HashSet<>();
        List<Letter> fit =
                due.stream().filter(letter -> letter.verdict() == null).toList();
        if (!fit.isEmpty()) {
            try {
                List<Applied> applied = parts.application.apply(fit);
                for (int i = 0; i < fit.size(); i++) {
                    settle(fit.get(i), applied.get(i), done);
                }
                storeFailures = 0;
            } catch (RuntimeException e) {
                putOffAll(fit, e);
            }
        }
        done.addAll(bury(due));
        lanes.values().forEach(lane -> lane.done(done));
    }

    /** The store's trouble is not the messages': it costs them no try. */
    private void putOffAll(List<Letter> letters, RuntimeException e) {
        Duration pause = parts.retries.pause(++storeFailures);
        log.warn("{} messages could not be applied and are tried again in {}", letters.size(), pause, e);
        long until = now() + pause.toNanos();
        letters.forEach(letter -> letter.putOff(until));
    }

    private void settle(Letter letter, Applied applied, Set<Letter> done) {
        if (applied instanceof Applied.Now) {
            parts.counters.applied.increment();
            done.add(letter);
        } else if (applied instanceof Applied.Before) {
            parts.counters.repeated.increment();
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

    private void failed(Letter letter, Exception cause) {
        Duration since = Duration.ofNanos(letter.failed(now()));
        if (cause instanceof PoisonMessage poison) {
            letter.giveUp(poison);
        } else if (parts.retries.isOver(letter.tries(), since)) {
            letter.giveUp(new PoisonMessage(
                    DeadLetterReason.TRIES_EXHAUSTED, "it failed in " + letter.tries() + " tries: " + cause, cause));
        } else {
            parts.counters.retried.increment();
            Duration pause = parts.retries.pause(letter.tries());
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

    /** Sends those that are given up to the dead-letter topic; returns those that are there. */
    private Set<Letter> bury(List<Letter> letters) {
        Map<Letter, PoisonMessage> dead = new LinkedHashMap<>();
        for (Letter letter : letters) {
            PoisonMessage verdict = letter.verdict();
            if (verdict != null) {
                dead.put(letter, verdict);
            }
        }
        if (dead.isEmpty()) {
            return Set.of();
        }
        Set<Letter> buried = parts.deadLetters.send(dead);
        dead.forEach((letter, verdict) -> {
            if (buried.contains(letter)) {
                parts.counters.dead.increment();
                log.warn(
                        "{} {} is a dead letter: {}, {}",
                        letter.message().topic(),
                        letter.message().coordinates(),
                        verdict.reason(),
                        verdict.getMessage());
            } else {
                letter.putOff(now() + parts.retries.first().toNanos());
            }
        });
        return buried;
    }

    private void commit() {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        lanes.forEach((partition, lane) -> {
            if (lane.isAhead()) {
                offsets.put(partition, lane.toCommit());
            }
        });
        if (offsets.isEmpty()) {
            return;
        }
        try {
            try {
                consumer.commitSync(offsets, COMMIT_MAX);
            } catch (WakeupException e) {
                // Somebody closes the consumer; what is done is still committed.
                consumer.commitSync(offsets, COMMIT_MAX);
            }
            offsets.forEach((partition, offset) -> {
                Lane lane = lanes.get(partition);
                if (lane != null) {
                    lane.committed(offset.offset());
                }
            });
        } catch (CommitFailedException | RebalanceInProgressException | TimeoutException e) {
            log.info("Offsets were not committed; what is delivered again is recognised", e);
        } catch (RetriableException e) {
            log.info("Offsets were not committed yet", e);
        }
    }

    private void pauseOrResume() {
        Set<TopicPartition> paused = new HashSet<>();
        Set<TopicPartition> free = new HashSet<>();
        for (TopicPartition partition : consumer.assignment()) {
            Lane lane = lanes.get(partition);
            (lane == null || lane.isEmpty() ? free : paused).add(partition);
        }
        consumer.pause(paused);
        consumer.resume(free);
    }

    /** What is done was committed after its batch. The rest is the next owner's. */
    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        partitions.forEach(lanes::remove);
    }

    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
        partitions.forEach(lanes::remove);
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        partitions.forEach(lanes::remove);
    }
}
