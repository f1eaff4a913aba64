package dev.onlyonce.testkit;

import dev.onlyonce.store.Time;
import java.time.Instant;
import java.util.function.Supplier;

/** The store's time, which a mutant can shift for the length of a call. */
final class ShiftedTime extends ForwardingTime {
    private final ThreadLocal<Long> micros = ThreadLocal.withInitial(() -> 0L);

    ShiftedTime(Time time) {
        super(time);
    }

    @Override
    public Instant now() {
        return super.now().plusNanos(micros.get() * 1000);
    }

    <T> T shifted(long by, Supplier<T> call) {
        micros.set(by);
        try {
            return call.get();
        } finally {
            micros.set(0L);
        }
    }
}
