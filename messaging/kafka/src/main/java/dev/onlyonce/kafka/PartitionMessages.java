package dev.onlyonce.kafka;

import dev.onlyonce.messages.adapter.PendingMessage;
import dev.onlyonce.messages.adapter.PendingMessages;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;

/** The records of one partition that were received and are not done, and how far its offsets are committed. */
final class PartitionMessages {
    private final PendingMessages<ConsumerRecord<byte[], byte[]>> messages = new PendingMessages<>();
    private long next;
    private long committed = -1;

    PendingMessages<ConsumerRecord<byte[], byte[]>> messages() {
        return messages;
    }

    void add(PendingMessage<ConsumerRecord<byte[], byte[]>> pending) {
        messages.add(pending);
        next = pending.record().offset() + 1;
    }

    /** Everything before this offset is done. Some after it may be done too: they are recognised when they are delivered again. */
    private long position() {
        PendingMessage<ConsumerRecord<byte[], byte[]>> first = messages.first();
        return first == null ? next : first.record().offset();
    }

    boolean isAhead() {
        return position() > committed;
    }

    OffsetAndMetadata toCommit() {
        return new OffsetAndMetadata(position());
    }

    void committed(long offset) {
        committed = offset;
    }
}
