package dev.onlyonce.redis;

import dev.onlyonce.redis.LinkOpening.Servers;
import dev.onlyonce.store.CacheCounts;
import dev.onlyonce.store.CacheOptions;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Time;
import dev.onlyonce.store.Transition;
import io.lettuce.core.resource.ClientResources;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A store behind a cache in Redis that all nodes share. Redis answers for the store only what the store has said itself a few seconds
 * ago; everything else goes to the store. Whatever Redis does, only speed depends on it.
 *
 * <ol>
 *   <li>A claim looks into Redis first. A fresh answer, or a fresh mark of a running claim, is what the store would return. If there is
 *       neither, the caller leaves a note there and asks the store. Those who find the note wait a moment for its answer.
 *   <li>Entries that the store returns go to Redis, sealed and with the store's time of reading: an answer counts for a few seconds from
 *       then, a mark for one, see {@link CachedEntries}. Nothing else is ever put there.
 *   <li>Whoever changes an entry deletes what Redis has of it. That only saves time: nobody relies on it.
 *   <li>An eviction returns when everything that any node may have read before it has lapsed. So no node replays the entry then.
 * </ol>
 *
 * <p>Any number of threads.
 */
public final class CachedStore extends UncachedVerbs {
    /** How long nodes remember answers in front of this cache: an eviction waits for that, too. */
    private static final Duration REMEMBER_MAX = Duration.ofSeconds(1);
    /** Covers the clocks of several database servers, and a pause between reading an answer and remembering it. */
    private static final Duration EVICTION_MARGIN = Duration.ofSeconds(1);

    private final CachedEntries entries;
    private final CacheConnection redis;
    private final Time time;
    private final boolean ownTime;
    private final Duration forgetMax;
    private final @Nullable ClientResources ownResources;

    private CachedStore(Store store, Builder builder) {
        super(store);
        Servers servers = Servers.trusting(builder.url.servers(), builder.ca);
        ownTime = builder.time == null;
        time = builder.time == null ? Time.system() : builder.time;
        ClientResources resources = builder.resources == null ? CacheConnection.resources() : builder.resources;
        ownResources = builder.resources == null ? resources : null;
        redis = new CacheConnection(servers, resources, builder.timeout, time);
        entries = new CachedEntries(redis, builder.seal, new StoreClock(time), builder.freshFor);
        forgetMax = builder.freshFor.plus(REMEMBER_MAX).plus(EVICTION_MARGIN);
        entries.readClock(store);
    }

    /**
     * For a cache in front of a store.
     *
     * @throws IllegalArgumentException if the options are wrong
     */
    public static Builder builder(Store store, CacheOptions options) {
        return new Builder(store, options);
    }

    @Override
    public List<ClaimResult> claim(List<ClaimRequest> requests) {
        Claiming claiming = new Claiming(requests, entries.ask(requests));
        claiming.askStore(claiming.open(CachedEntries.Found.ABSENT));
        Duration left = redis.timeout();
        for (Duration pause = Duration.ofMillis(1); claiming.isWaiting() && left.compareTo(pause) >= 0; ) {
            await(pause);
            left = left.minus(pause);
            pause = pause.multipliedBy(2);
            claiming.lookAgain();
        }
        claiming.askStore(claiming.open(CachedEntries.Found.ASKED_FOR));
        return claiming.results();
    }

    /** The claims of one call. */
    private final class Claiming {
        private final List<ClaimRequest> requests;
        private final List<CachedEntries.Found> found;
        private final List<@Nullable ClaimResult> results = new ArrayList<>();
        private boolean changed;

        Claiming(List<ClaimRequest> requests, List<CachedEntries.Found> found) {
            this.requests = requests;
            this.found = new ArrayList<>(found);
            found.forEach(each -> results.add(each.result()));
        }

        /** The positions of requests without a result that were found so. */
        List<Integer> open(CachedEntries.Found as) {
            List<Integer> open = new ArrayList<>();
            for (int i = 0; i < requests.size(); i++) {
                if (results.get(i) == null && found.get(i).equals(as)) {
                    open.add(i);
                }
            }
            return open;
        }

        boolean isWaiting() {
            return !open(CachedEntries.Found.ASKED_FOR).isEmpty();
        }

        void lookAgain() {
            List<Integer> waiting = open(CachedEntries.Found.ASKED_FOR);
            List<CachedEntries.Found> now =
                    entries.ask(waiting.stream().map(requests::get).toList());
            for (int i = 0; i < waiting.size(); i++) {
                found.set(waiting.get(i), now.get(i));
                results.set(waiting.get(i), now.get(i).result());
            }
            askStore(open(CachedEntries.Found.ABSENT));
        }

        void askStore(List<Integer> positions) {
            if (positions.isEmpty()) {
                return;
            }
            List<ClaimRequest> asked = positions.stream().map(requests::get).toList();
            long begun = time.nanos();
            List<ClaimResult> answers;
            try {
                answers = store.claim(asked);
            } catch (RuntimeException | Error e) {
                entries.drop(asked.stream().map(ClaimRequest::id).toList());
                if (changed && e instanceof RuntimeException) {
                    throw new StoreOutcomeUnknown("The store took a part of the claims and failed at the next", e);
                }
                throw e;
            }
            changed = true;
            for (int i = 0; i < answers.size(); i++) {
                results.set(positions.get(i), answers.get(i));
            }
            entries.keep(asked, answers, begun);
        }

        List<ClaimResult> results() {
            return results.stream().map(Objects::requireNonNull).toList();
        }
    }

    /** Waits, also if the thread is interrupted meanwhile: an eviction that returned early would not be over. */
    private void await(Duration span) {
        long until = time.nanos() + span.toNanos();
        boolean waiting = true;
        boolean interrupted = false;
        while (waiting) {
            try {
                time.await(new CompletableFuture<Void>(), Duration.ofNanos(Math.max(0, until - time.nanos())));
                waiting = false;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** From the store. */
    @Override
    public List<Optional<Entry>> find(List<EntryId> ids) {
        long begun = time.nanos();
        List<Optional<Entry>> found = store.find(ids);
        entries.keep(found.stream().flatMap(Optional::stream).toList(), begun);
        return found;
    }

    @Override
    public List<SettleResult> settle(List<Settlement> settlements) {
        List<SettleResult> settled = store.settle(settlements);
        entries.drop(settlements.stream().map(Settlement::id).toList());
        return settled;
    }

    @Override
    public List<SettleResult> resolve(List<Resolution> resolutions) {
        List<SettleResult> resolved = store.resolve(resolutions);
        entries.drop(resolutions.stream().map(Resolution::id).toList());
        return resolved;
    }

    @Override
    public List<Transition> sweep(int limit) {
        List<Transition> swept = store.sweep(limit);
        entries.drop(swept.stream().map(Transition::id).toList());
        return swept;
    }

    /** Returns when no node replays the entry any more: after about seven seconds, unless the cache is configured otherwise. */
    @Override
    public Optional<Transition> evict(EntryId id, String who, String reason) {
        boolean waits = true;
        try {
            Optional<Transition> evicted = store.evict(id, who, reason);
            waits = evicted.isPresent();
            return evicted;
        } catch (StoreUnavailable | StoreBusy | StoreRejected e) {
            waits = false;
            throw e;
        } finally {
            entries.drop(List.of(id));
            // After a lost answer, too: the next try finds nothing to evict, and nothing to wait for.
            if (waits) {
                await(forgetMax);
            }
        }
    }

    @Override
    public Duration rememberMax() {
        return REMEMBER_MAX;
    }

    @Override
    public Optional<CacheCounts> cache() {
        return Optional.of(entries.counts());
    }

    /** Waits until Redis has what was written so far, for tests. */
    void awaitWrites() {
        redis.awaitWrites();
    }

    /** Closes the store, too. */
    @Override
    public void close() {
        redis.close();
        if (ownResources != null) {
            var unused = ownResources.shutdown(0, 2, TimeUnit.SECONDS);
        }
        if (ownTime) {
            time.close();
        }
        store.close();
    }

    /** How to open a cache. */
    public static final class Builder {
        private static final Duration FRESH_MIN = Duration.ofSeconds(1);
        /** An eviction takes longer, and operators and their connections wait for a minute at most. */
        private static final Duration FRESH_MAX = Duration.ofSeconds(30);

        private final Store store;
        private final RedisUrl url;
        private final CacheSeal seal;
        private Duration freshFor = Duration.ofSeconds(5);
        private Duration timeout = Duration.ofMillis(50);
        private @Nullable Path ca;
        private @Nullable Time time;
        private @Nullable ClientResources resources;

        private Builder(Store store, CacheOptions options) {
            this.store = store;
            url = RedisUrl.of(options.url());
            url.applyTo(this);
            var unused = url.servers();
            seal = CacheSeal.of(options);
        }

        /** How long a cached answer counts after it was read from the store; five seconds by default. An eviction takes longer by two. */
        public Builder freshFor(Duration freshFor) {
            if (freshFor.compareTo(FRESH_MIN) < 0 || freshFor.compareTo(FRESH_MAX) > 0) {
                throw new IllegalArgumentException("freshFor must be between 1s and 30s: " + freshFor);
            }
            this.freshFor = freshFor;
            return this;
        }

        /** How long a request waits for Redis; 50 ms by default. */
        public Builder timeout(Duration timeout) {
            if (timeout.isNegative() || timeout.isZero()) {
                throw new IllegalArgumentException("timeout must be positive: " + timeout);
            }
            this.timeout = timeout;
            return this;
        }

        /** Trusts only the authorities in this PEM file, with {@code rediss://}; those of the JVM by default. */
        public Builder ca(Path ca) {
            this.ca = url.checkedCa(ca);
            return this;
        }

        /** The source of time; the system's by default. */
        public Builder time(Time time) {
            this.time = time;
            return this;
        }

        /** Lettuce's threads and settings, for an application that has them already. They stay the caller's to close. */
        public Builder resources(ClientResources resources) {
            this.resources = resources;
            return this;
        }

        /** Opens it. A Redis that cannot be reached is no reason to fail. */
        public CachedStore build() {
            return new CachedStore(store, this);
        }
    }
}
