package dev.onlyonce.testkit.broken;

import java.time.Duration;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** What time does to a {@link FlawedServer}: entries that are forgotten, and effects that are seen or come late. */
final class Forgetting {
    static final Duration SOON = Duration.ofSeconds(5);

    private static final int KEYS_MAX = 12;
    private static final long IDLE_NANOS = Duration.ofSeconds(1).toNanos();

    private final @Nullable Flaw flaw;
    private final Map<String, KeyEntry> entries;
    private final Map<String, Long> seen = new ConcurrentHashMap<>();
    private final Deque<Long> happened = new ConcurrentLinkedDeque<>();
    private volatile long lastRequest = System.nanoTime();
    private volatile boolean lateEffect;

    Forgetting(@Nullable Flaw flaw, Map<String, KeyEntry> entries) {
        this.flaw = flaw;
        this.entries = entries;
    }

    /** Forgets what the flaw forgets. */
    void beforeRequest() {
        long now = System.nanoTime();
        lastRequest = now;
        entries.keySet().forEach(id -> seen.putIfAbsent(id, now));
        if (flaw == Flaw.FORGETS_SOON) {
            seen.forEach((id, since) -> {
                if (now - since > SOON.toNanos()) {
                    forget(id);
                }
            });
        }
        if (flaw == Flaw.FORGETS_OTHERS && seen.size() > KEYS_MAX) {
            seen.entrySet().stream()
                    .sorted(Map.Entry.comparingByValue())
                    .limit(seen.size() - KEYS_MAX)
                    .forEach(oldest -> forget(oldest.getKey()));
        }
    }

    private void forget(String id) {
        KeyEntry entry = entries.get(id);
        if (entry == null || !entry.isRunning()) {
            seen.remove(id);
            entries.remove(id);
        }
    }

    void replayed() {
        lateEffect = flaw == Flaw.LATE_EFFECT;
    }

    void happened() {
        happened.add(System.nanoTime());
    }

    /** What the counter shows: effects of a certain age. */
    int counted(AtomicInteger effects, Duration after) {
        long now = System.nanoTime();
        if (lateEffect && now - lastRequest > IDLE_NANOS) {
            lateEffect = false;
            effects.incrementAndGet();
        }
        int young =
                (int) happened.stream().filter(at -> now - at < after.toNanos()).count();
        return effects.get() - young;
    }
}
