package dev.onlyonce.http.admin;

import static java.util.Objects.requireNonNull;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.onlyonce.Event;
import dev.onlyonce.Listener;
import dev.onlyonce.store.AuditText;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * What a node remembers of its own work, so that operators need no other system to see it: its last hour in steps, replays by key,
 * and decisions by tenant and operation. All of it is bounded and in memory, and starts empty with the node.
 */
public final class NodeWatch implements Listener {
    /** The keys that were replayed most; each takes about 300 bytes. */
    private static final int REPLAYED_MAX = 10_000;

    private static final int TENANTS_MAX = 1_000;
    private static final int OPERATIONS_MAX = 1_000;
    private static final int CONSUMERS_MAX = 1_000;
    /** The messages that were given up last, with as much of each as people read: 3 MiB at most. */
    private static final int MESSAGES_MAX = 200;

    private static final int MESSAGE_BYTES_MAX = 16 << 10;

    private final Time time;
    private final Instant startedAt;
    private final LastHour hour;
    private final Cache<EntryId, Times> replayed =
            Caffeine.newBuilder().maximumSize(REPLAYED_MAX).build();
    private final Cache<String, Decisions> tenants =
            Caffeine.newBuilder().maximumSize(TENANTS_MAX).build();
    private final Cache<String, Decisions> operations =
            Caffeine.newBuilder().maximumSize(OPERATIONS_MAX).build();
    private final Cache<GivenUp, Times> givenUp =
            Caffeine.newBuilder().maximumSize(CONSUMERS_MAX).build();

    /** Messages that were given up, by their numbers. */
    private final ConcurrentSkipListMap<Long, Message> messages = new ConcurrentSkipListMap<>();

    private final AtomicLong lastMessage = new AtomicLong();

    /** Begins to watch. */
    public NodeWatch(Time time) {
        this.time = time;
        startedAt = time.now();
        hour = new LastHour(time);
    }

    /** A message that a consumer has given up; a large one is cut. */
    record Message(long id, Event.GivenUp what, int bytes, Instant at) {}

    /** Messages that a consumer has given up for one reason. */
    private record GivenUp(String group, String topic, String reason) {}

    /** How often something happened, and when last. */
    private static final class Times {
        private final LongAdder count = new LongAdder();
        private volatile long lastMillis;

        private void at(Instant now) {
            count.increment();
            lastMillis = now.toEpochMilli();
        }

        private String lastAt() {
            return Instant.ofEpochMilli(lastMillis).toString();
        }
    }

    /** Decisions by kind. */
    static final class Decisions {
        private final Map<Event.Decision, LongAdder> counts = new EnumMap<>(Event.Decision.class);

        Decisions() {
            for (Event.Decision decision : Event.Decision.values()) {
                counts.put(decision, new LongAdder());
            }
        }

        private final LongAdder limited = new LongAdder();

        long limited() {
            return limited.sum();
        }

        private void add(Event.Decision decision) {
            adder(decision).increment();
        }

        private LongAdder adder(Event.Decision decision) {
            return requireNonNull(counts.get(decision));
        }

        long of(Event.Decision decision) {
            return adder(decision).sum();
        }

        private long total() {
            return limited.sum()
                    + counts.values().stream().mapToLong(LongAdder::sum).sum();
        }
    }

    @Override
    public void on(Event event) {
        if (event instanceof Event.Decided decided) {
            decided(decided);
        } else if (event instanceof Event.Took took) {
            hour.took(took.part(), took.nanos());
        } else if (event instanceof Event.Limited over) {
            tenants.get(over.tenant(), name -> new Decisions()).limited.increment();
        } else if (event instanceof Event.LeaseLapsed) {
            hour.lapsed();
        } else if (event instanceof Event.Consumed consumed && consumed.end() == Event.Consumed.End.DEAD) {
            GivenUp which = new GivenUp(consumed.group(), consumed.topic(), String.valueOf(consumed.reason()));
            givenUp.get(which, it -> new Times()).at(time.now());
        } else if (event instanceof Event.GivenUp message) {
            keep(message);
        }
    }

    private void keep(Event.GivenUp it) {
        long id = lastMessage.incrementAndGet();
        byte[] beginning = Payload.beginning(it.body(), MESSAGE_BYTES_MAX);
        Event.GivenUp kept = new Event.GivenUp(
                it.group(), it.topic(), it.coordinates(), it.reason(), AuditText.why(it.text()), it.tries(), beginning);
        messages.put(id, new Message(id, kept, it.body().length, time.now()));
        while (messages.size() > MESSAGES_MAX) {
            messages.pollFirstEntry();
        }
    }

    private void decided(Event.Decided decided) {
        hour.decided(decided.decision());
        tenants.get(decided.key().tenant(), name -> new Decisions()).add(decided.decision());
        operations.get(decided.key().operation(), name -> new Decisions()).add(decided.decision());
        if (decided.decision() == Event.Decision.REPLAY) {
            replayed.get(decided.key().entryId(), id -> new Times()).at(time.now());
        }
    }

    /** How long ago it began. */
    Duration uptime() {
        return Duration.between(startedAt, time.now());
    }

    Instant startedAt() {
        return startedAt;
    }

    LastHour hour() {
        return hour;
    }

    /** What the numbers are about. */
    String scope() {
        return "this node since " + startedAt;
    }

    KeyView.Replays replays(EntryId id) {
        Times found = replayed.getIfPresent(id);
        return found == null
                ? new KeyView.Replays(0, null, scope())
                : new KeyView.Replays(found.count.sum(), found.lastAt(), scope());
    }

    /** The messages that consumers on this node have given up, the latest first. */
    List<AdminOperator.ConsumerLetters> consumerLetters() {
        return givenUp.asMap().entrySet().stream()
                .map(it -> new AdminOperator.ConsumerLetters(
                        it.getKey().group(),
                        it.getKey().topic(),
                        it.getKey().reason(),
                        it.getValue().count.sum(),
                        it.getValue().lastAt()))
                .sorted(Comparator.comparing(AdminOperator.ConsumerLetters::lastAt)
                        .reversed())
                .toList();
    }

    /** The messages that consumers on this node have given up last, the latest first. */
    List<Message> messages() {
        return List.copyOf(messages.descendingMap().values());
    }

    /** One of them. */
    Optional<Message> message(long id) {
        return Optional.ofNullable(messages.get(id));
    }

    /** The tenants with most decisions. */
    List<Map.Entry<String, Decisions>> tenants(int limit) {
        return tenants.asMap().entrySet().stream()
                .sorted(Comparator.comparingLong(
                        (Map.Entry<String, Decisions> it) -> -it.getValue().total()))
                .limit(limit)
                .toList();
    }

    /** Decisions about an operation, by kind. */
    Map<String, Long> seen(String operation) {
        @Nullable Decisions decisions = operations.getIfPresent(operation);
        Map<String, Long> seen = new LinkedHashMap<>();
        Optional.ofNullable(decisions).ifPresent(found -> {
            for (Event.Decision decision : Event.Decision.values()) {
                seen.put(kind(decision), found.of(decision));
            }
        });
        return seen;
    }

    /** A kind of decision, as it is shown. */
    static String kind(Event.Decision decision) {
        return switch (decision) {
            case REPLAY -> "replayed";
            case KEY_MISUSE -> "mismatched";
            default -> decision.name().toLowerCase(Locale.ROOT);
        };
    }
}
