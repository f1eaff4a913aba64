package dev.onlyonce.kafka;

import java.util.concurrent.atomic.LongAdder;

/** Counts what became of messages. */
final class Counters {
    final LongAdder applied = new LongAdder();
    final LongAdder repeated = new LongAdder();
    final LongAdder retried = new LongAdder();
    final LongAdder dead = new LongAdder();

    KafkaInbox.Counts counts() {
        return new KafkaInbox.Counts(applied.sum(), repeated.sum(), retried.sum(), dead.sum());
    }
}
