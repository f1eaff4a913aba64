package dev.onlyonce.messages.adapter;

import dev.onlyonce.messages.MessageCounts;
import java.util.concurrent.atomic.LongAdder;

/** Counts what became of messages. */
final class Counters {
    final LongAdder applied = new LongAdder();
    final LongAdder repeated = new LongAdder();
    final LongAdder retried = new LongAdder();
    final LongAdder dead = new LongAdder();
    final LongAdder hung = new LongAdder();

    MessageCounts counts() {
        return new MessageCounts(applied.sum(), repeated.sum(), retried.sum(), dead.sum(), hung.sum());
    }
}
