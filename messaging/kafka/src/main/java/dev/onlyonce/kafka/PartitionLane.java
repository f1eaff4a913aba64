package dev.onlyonce.kafka;

import dev.onlyonce.messages.adapter.Lane;
import dev.onlyonce.messages.adapter.Letter;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;

/** The records of one partition that were received and are not done, and how far its offsets are committed. */
final class PartitionLane {
    private final Lane<ConsumerRecord<byte[], byte[]>> letters = new Lane<>();
    private long next;
    private long committed = -1;

    Lane<ConsumerRecord<byte[], byte[]>> letters() {
        return letters;
    }

    void add(Letter<ConsumerRecord<byte[], byte[]>> letter) {
        letters.add(letter);
        next = letter.record().offset() + 1;
    }

    /** Everything before this offset is done. Some after it may be done too: they are recognised when they are delivered again. */
    private long position() {
        Letter<ConsumerRecord<byte[], byte[]>> first = letters.first();
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
