package dev.onlyonce.http.admin;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.onlyonce.store.Time;
import java.time.Duration;

/**
 * Slows down those who guess credentials: after ten mistakes an address has to wait, longer after each further one, up to half a
 * minute. While it waits, right credentials are refused too: otherwise guessing would go on at full speed. Thread-safe.
 */
final class Attempts {
    private static final int FREE = 10;
    private static final int SECONDS_MAX = 30;
    private static final int ADDRESSES_MAX = 10_000;
    private static final Duration FORGOTTEN = Duration.ofMinutes(10);

    private final Time time;
    private final Cache<String, Mistakes> addresses;

    private record Mistakes(int count, long untilNanos) {}

    Attempts(Time time) {
        this.time = time;
        addresses = Caffeine.newBuilder()
                .ticker(time::nanos)
                .maximumSize(ADDRESSES_MAX)
                .expireAfterWrite(FORGOTTEN)
                .build();
    }

    /** How many seconds an address has to wait; 0 for none. */
    long wait(String address) {
        Mistakes mistakes = addresses.getIfPresent(address);
        long left = mistakes == null ? 0 : mistakes.untilNanos() - time.nanos();
        return left <= 0 ? 0 : Math.max(1, Duration.ofNanos(left).toSeconds());
    }

    void mistake(String address) {
        addresses.asMap().compute(address, (it, before) -> {
            int count = before == null ? 1 : before.count() + 1;
            int seconds = count < FREE ? 0 : Math.min(SECONDS_MAX, 1 << Math.min(5, count - FREE));
            return new Mistakes(
                    count, time.nanos() + Duration.ofSeconds(seconds).toNanos());
        });
    }

    void success(String address) {
        addresses.invalidate(address);
    }
}
