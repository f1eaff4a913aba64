package dev.onlyonce.testkit;

import static dev.onlyonce.store.State.COMPLETED;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.RenewResult;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Terms;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Two nodes on the same entries, the store's clock, and the verbs for one entry at a time. */
final class Bench implements AutoCloseable {
    private final Supplier<Store> opener;
    private final Consumer<Duration> clock;
    private final List<Store> opened = new ArrayList<>();
    private @Nullable ClaimRequest clockEntry;

    Bench(Supplier<Store> opener, Consumer<Duration> clock) {
        this.opener = opener;
        this.clock = clock;
    }

    void open() {
        another();
        another();
    }

    @Override
    public void close() {
        opened.forEach(Store::close);
    }

    /** The node that most tests talk to. */
    Store node() {
        return opened.get(0);
    }

    /** The first or the second node. */
    Store node(int index) {
        return opened.get(index % 2);
    }

    /** One more node on the same entries. */
    Store another() {
        Store store = opener.get();
        opened.add(store);
        return store;
    }

    void advance(Duration span) {
        clock.accept(span);
    }

    /** The store's clock, as a store shows it: by reading an entry that outlives every test. */
    Instant now() {
        if (clockEntry == null) {
            Terms forever = new Terms(Terms.LEASE_MAX, OnLeaseLost.UNKNOWN, Terms.RETENTION_MAX, Terms.RETENTION_MAX);
            clockEntry = Requests.on(forever, Requests.fresh("clock-of-the-store", "tick"));
            claimed(clockEntry);
            settled(clockEntry, COMPLETED, null);
        }
        return entry(clockEntry).readAt();
    }

    /** Advances to this instant, plus an offset that may be negative. */
    void advanceTo(@Nullable Instant instant, Duration offset) {
        Duration span = Duration.between(now(), requireNonNull(instant).plus(offset));
        if (!span.isNegative()) {
            advance(span);
        }
    }

    ClaimResult claim(ClaimRequest request) {
        return only(node().claim(List.of(request)));
    }

    /** Claims, which must succeed. */
    int claimed(ClaimRequest request) {
        ClaimResult result = claim(request);
        assertThat(result).isInstanceOf(ClaimResult.Claimed.class);
        return ((ClaimResult.Claimed) result).attempt();
    }

    /** Claims, which must not succeed. */
    Entry refused(ClaimRequest request) {
        ClaimResult result = claim(request);
        if (result instanceof ClaimResult.Large) {
            return entry(request);
        }
        assertThat(result).isInstanceOf(ClaimResult.Existing.class);
        return ((ClaimResult.Existing) result).entry();
    }

    SettleResult settle(Settlement settlement) {
        return only(node().settle(List.of(settlement)));
    }

    SettleResult settle(ClaimRequest claim, State to, byte @Nullable [] result) {
        return settle(Requests.settlement(claim, to, result));
    }

    /** Settles, which must succeed. */
    SettleResult.Settled settled(ClaimRequest claim, State to, byte @Nullable [] result) {
        SettleResult answer = settle(claim, to, result);
        assertThat(answer).isInstanceOf(SettleResult.Settled.class);
        return (SettleResult.Settled) answer;
    }

    boolean renew(ClaimRequest claim, Duration lease) {
        RenewResult answer = only(node().renew(List.of(new Renewal(claim.id(), claim.token(), lease))));
        assertThat(answer).as("nobody else holds the row").isNotEqualTo(RenewResult.BUSY);
        return answer == RenewResult.RENEWED;
    }

    SettleResult resolve(ClaimRequest claim, int attempt, State to, byte @Nullable [] result) {
        return only(node().resolve(List.of(Requests.resolution(claim.id(), attempt, to, result))));
    }

    Optional<Entry> find(EntryId id) {
        return only(node().find(List.of(id)));
    }

    Optional<Entry> find(ClaimRequest claim) {
        return find(claim.id());
    }

    /** The entry, which must be there. */
    Entry entry(ClaimRequest claim) {
        return find(claim).orElseThrow(() -> new AssertionError("no entry for " + claim.id()));
    }

    /** The entry for comparison, or nothing. */
    Optional<Snapshot> snapshot(ClaimRequest claim) {
        return find(claim).map(Snapshot::of);
    }

    private static <T> T only(List<T> answers) {
        assertThat(answers).as("one answer for one question").hasSize(1);
        return answers.get(0);
    }
}
