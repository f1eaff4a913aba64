package dev.onlyonce.sql.outbox;

import java.util.concurrent.CountDownLatch;

/** A provider that answers only when it is let go. */
class SlowProvider extends Provider {
    /** How many calls there have to be before the test goes on. */
    final CountDownLatch called;

    final CountDownLatch goOn = new CountDownLatch(1);

    SlowProvider(int calls) {
        called = new CountDownLatch(calls);
    }

    @Override
    public Delivery deliver(OutboxRow row) {
        called.countDown();
        OutboxChapter.await(goOn);
        return super.deliver(row);
    }
}
