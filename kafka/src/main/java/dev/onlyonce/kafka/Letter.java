package dev.onlyonce.kafka;

import dev.onlyonce.messages.MessageHeader;
import dev.onlyonce.messages.MessageIdentity;
import dev.onlyonce.messages.PoisonMessage;
import dev.onlyonce.messages.ReceivedMessage;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/** A record that is not done yet, and how it fared. Used by the thread that polls alone. */
final class Letter {
    private static final byte[] NOTHING = {};

    private final ConsumerRecord<byte[], byte[]> record;
    private final ReceivedMessage message;

    private int tries;
    private long failedFirstNanos;
    private long dueNanos;
    private @Nullable MessageIdentity identity;
    private @Nullable PoisonMessage verdict;

    Letter(ConsumerRecord<byte[], byte[]> record, long nowNanos) {
        this.record = record;
        this.dueNanos = nowNanos;
        List<MessageHeader> headers = new ArrayList<>();
        for (Header header : record.headers()) {
            headers.add(new MessageHeader(header.key(), header.value() == null ? NOTHING : header.value()));
        }
        this.message = new ReceivedMessage(
                record.topic(),
                record.partition() + "-" + record.offset(),
                headers,
                record.value() == null ? NOTHING : record.value());
    }

    ConsumerRecord<byte[], byte[]> record() {
        return record;
    }

    ReceivedMessage message() {
        return message;
    }

    /** Kafka keeps records with one key in order; those without a key have none. */
    @Nullable
    Object order() {
        return record.key() == null ? null : new Order(record.topic(), ByteBuffer.wrap(record.key()));
    }

    private record Order(String topic, ByteBuffer key) {}

    int tries() {
        return tries;
    }

    @Nullable
    MessageIdentity identity() {
        return identity;
    }

    void identified(MessageIdentity found) {
        identity = found;
    }

    /** Why it is to become a dead letter; null if it is not. */
    @Nullable
    PoisonMessage verdict() {
        return verdict;
    }

    void giveUp(PoisonMessage why) {
        verdict = why;
    }

    boolean isDue(long nowNanos) {
        return nowNanos - dueNanos >= 0;
    }

    long dueNanos() {
        return dueNanos;
    }

    void putOff(long untilNanos) {
        dueNanos = untilNanos;
    }

    /** Counts a failure; returns for how long it has been failing. */
    long failed(long nowNanos) {
        if (tries++ == 0) {
            failedFirstNanos = nowNanos;
        }
        return nowNanos - failedFirstNanos;
    }
}
