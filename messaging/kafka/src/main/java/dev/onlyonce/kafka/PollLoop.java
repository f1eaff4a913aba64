package dev.onlyonce.kafka;

import dev.onlyonce.messages.MessageHeader;
import dev.onlyonce.messages.ReceivedMessage;
import dev.onlyonce.messages.adapter.MessageDispatcher;
import dev.onlyonce.messages.adapter.PendingMessage;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
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
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Polls, and has others apply, on one thread.
 *
 * <ol>
 *   <li>A poll's records are held, each partition's in its order. A partition that holds many is paused, so none grows by more than one poll.
 *   <li>The records that are due are handed to threads of the {@link MessageDispatcher}. This one waits for them for a short while.
 *   <li>Those that are done are let go. Those that are given up are let go when the dead-letter topic has acknowledged them. The
 *       others run on or wait, with growing pauses, while this thread goes on polling: the consumer keeps its partitions.
 *   <li>Last, the offset of the first record that is not done is committed. If that fails, or the process dies before, the records are
 *       delivered again and recognised.
 * </ol>
 */
final class PollLoop implements ConsumerRebalanceListener {
    private static final Duration POLL_MAX = Duration.ofMillis(500);
    private static final Duration COMMIT_MAX = Duration.ofSeconds(10);
    /** As many records as one poll returns by default. What is done behind one that is not comes again after a restart. */
    private static final int HELD_MAX = 500;
    /** As many bytes as Kafka fetches of a partition at once by default. */
    private static final long LANE_BYTES_MAX = 1 << 20;

    private static final Logger log = LoggerFactory.getLogger(PollLoop.class);
    private static final byte[] NOTHING = {};

    private final Consumer<byte[], byte[]> consumer;
    private final MessageDispatcher<ConsumerRecord<byte[], byte[]>> dispatcher;
    private final Map<TopicPartition, PartitionMessages> held = new HashMap<>();

    PollLoop(Consumer<byte[], byte[]> consumer, MessageDispatcher<ConsumerRecord<byte[], byte[]>> dispatcher) {
        this.consumer = consumer;
        this.dispatcher = dispatcher;
    }

    void run(Collection<String> topics, BooleanSupplier running) {
        consumer.subscribe(topics, this);
        while (running.getAsBoolean()) {
            try {
                consumer.poll(idle(dispatcher.now())).forEach(this::receive);
                work();
                commit();
            } catch (WakeupException e) {
                continue;
            } catch (InterruptException e) {
                // A time limit of a handler may interrupt too late. Without the consumer, the group would wait for it.
                Thread.interrupted();
                log.warn("The thread that consumes {} was interrupted, and goes on", topics, e);
            }
            pauseOrResume();
        }
        done(dispatcher.finish());
        commit();
    }

    private void work() {
        List<PendingMessage<ConsumerRecord<byte[], byte[]>>> due = new ArrayList<>();
        held.values().forEach(each -> due.addAll(each.messages().due(dispatcher.now())));
        done(dispatcher.work(due));
    }

    private void done(Set<PendingMessage<ConsumerRecord<byte[], byte[]>>> messages) {
        held.values().forEach(each -> each.messages().done(messages));
    }

    private Duration idle(long now) {
        long nanos = POLL_MAX.toNanos();
        for (PartitionMessages each : held.values()) {
            nanos = Math.min(nanos, each.messages().idleNanos(now));
        }
        return Duration.ofNanos(nanos);
    }

    private void receive(ConsumerRecord<byte[], byte[]> record) {
        held.computeIfAbsent(
                        new TopicPartition(record.topic(), record.partition()), partition -> new PartitionMessages())
                .add(dispatcher.receive(message(record), order(record), record));
    }

    private static ReceivedMessage message(ConsumerRecord<byte[], byte[]> record) {
        List<MessageHeader> headers = new ArrayList<>();
        for (Header header : record.headers()) {
            headers.add(new MessageHeader(header.key(), header.value() == null ? NOTHING : header.value()));
        }
        return new ReceivedMessage(
                record.topic(), coordinates(record), headers, record.value() == null ? NOTHING : record.value());
    }

    /**
     * With the record's time: in a topic that is deleted and made again, or whose end was lost, partition and offset come again with another
     * record.
     */
    private static String coordinates(ConsumerRecord<?, ?> record) {
        return record.partition() + "-" + record.offset() + "-" + record.timestamp();
    }

    /** Kafka keeps records with one key in order; those without a key have none. */
    private static @Nullable Object order(ConsumerRecord<byte[], byte[]> record) {
        return record.key() == null ? null : new Order(record.topic(), ByteBuffer.wrap(record.key()));
    }

    private record Order(String topic, ByteBuffer key) {}

    private void commit() {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        held.forEach((partition, each) -> {
            if (each.isAhead()) {
                offsets.put(partition, each.toCommit());
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
                PartitionMessages each = held.get(partition);
                if (each != null) {
                    each.committed(offset.offset());
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
            PartitionMessages each = held.get(partition);
            (each == null || !isFull(each) ? free : paused).add(partition);
        }
        consumer.pause(paused);
        consumer.resume(free);
    }

    private static boolean isFull(PartitionMessages each) {
        return each.messages().size() >= HELD_MAX
                || each.messages().all().stream()
                                .mapToLong(pending -> pending.message().body().length)
                                .sum()
                        >= LANE_BYTES_MAX;
    }

    /** What is done was committed. The rest is the next owner's, who waits for what is running. */
    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        partitions.forEach(held::remove);
    }

    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
        partitions.forEach(held::remove);
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        partitions.forEach(held::remove);
    }
}
