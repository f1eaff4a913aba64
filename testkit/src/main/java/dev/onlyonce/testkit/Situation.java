package dev.onlyonce.testkit;

import static dev.onlyonce.testkit.Requests.KEPT;
import static dev.onlyonce.testkit.Requests.LEASE;
import static dev.onlyonce.testkit.Requests.RETENTION;
import static dev.onlyonce.testkit.Requests.RETRIED;
import static dev.onlyonce.testkit.Requests.TERMS;
import static dev.onlyonce.testkit.Requests.TOMBSTONE;
import static dev.onlyonce.testkit.Requests.accepting;
import static dev.onlyonce.testkit.Requests.bytes;
import static dev.onlyonce.testkit.Requests.on;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.SettleResult.Settled;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Terms;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Every way an entry can stand, and how it comes to stand so. */
@SuppressWarnings("ImmutableEnumChecker") // lambdas without state
enum Situation {
    ABSENT(null, 0, TERMS, (bench, claim) -> {}),
    PENDING(State.PENDING, 0, TERMS, (bench, claim) -> bench.claimed(accepting(claim))),
    PENDING_LAPSED(State.PENDING, 0, TERMS, (bench, claim) -> {
        bench.claimed(accepting(claim));
        bench.advance(LEASE);
    }),
    PROCESSING(State.PROCESSING, 1, TERMS, Bench::claimed),
    PROCESSING_LAPSED(State.PROCESSING, 1, TERMS, Situation::lapse),
    COMPLETED(State.COMPLETED, 1, TERMS, (bench, claim) -> settle(bench, claim, State.COMPLETED, "completed")),
    FAILED(State.FAILED, 1, TERMS, (bench, claim) -> settle(bench, claim, State.FAILED, "failed")),
    FAILED_ABANDONED(State.FAILED, 0, TERMS, (bench, claim) -> {
        bench.claimed(accepting(claim));
        bench.advance(LEASE);
        assertThat(bench.node().sweep(10)).hasSize(1);
    }),
    RETRYABLE(State.RETRYABLE, 1, TERMS, (bench, claim) -> settle(bench, claim, State.RETRYABLE, null)),
    RETRYABLE_SWEPT(State.RETRYABLE, 1, RETRIED, Situation::sweep),
    RETRYABLE_RESOLVED(State.RETRYABLE, 1, TERMS, (bench, claim) -> {
        settle(bench, claim, State.UNKNOWN, null);
        assertThat(bench.resolve(claim, 1, State.RETRYABLE, null)).isInstanceOf(Settled.class);
    }),
    /** A retryable entry leaves no tombstone, even if its terms ask for one: nothing happened that is to be remembered. */
    RETRYABLE_GONE(null, 1, KEPT, (bench, claim) -> {
        settle(bench, claim, State.RETRYABLE, null);
        bench.advance(RETENTION);
    }),
    UNKNOWN(State.UNKNOWN, 1, TERMS, (bench, claim) -> settle(bench, claim, State.UNKNOWN, null)),
    UNKNOWN_SWEPT(State.UNKNOWN, 1, TERMS, Situation::sweep),
    /** No retention runs for an unknown entry. */
    UNKNOWN_OLD(State.UNKNOWN, 1, KEPT, (bench, claim) -> {
        settle(bench, claim, State.UNKNOWN, null);
        bench.advance(RETENTION.plus(TOMBSTONE).multipliedBy(10));
    }),
    COMPLETED_RESOLVED(State.COMPLETED, 1, TERMS, (bench, claim) -> {
        sweep(bench, claim);
        assertThat(bench.resolve(claim, 1, State.COMPLETED, bytes("found"))).isInstanceOf(Settled.class);
    }),
    /** Past retention, before a purge. */
    EXPIRED(State.EXPIRED, 1, KEPT, (bench, claim) -> {
        settle(bench, claim, State.COMPLETED, "completed");
        bench.advance(RETENTION);
    }),
    /** The same after a purge. */
    EXPIRED_REAPED(State.EXPIRED, 1, KEPT, (bench, claim) -> {
        settle(bench, claim, State.FAILED, "failed");
        bench.advance(RETENTION);
        assertThat(bench.node().purge(10)).isPositive();
    }),
    /** Past retention, and no tombstone was asked for. */
    GONE(null, 1, TERMS, (bench, claim) -> {
        settle(bench, claim, State.COMPLETED, "completed");
        bench.advance(RETENTION);
    }),
    /** Past retention and tombstone. */
    TOMBSTONE_GONE(null, 1, KEPT, (bench, claim) -> {
        settle(bench, claim, State.COMPLETED, "completed");
        bench.advance(RETENTION.plus(TOMBSTONE));
    }),
    TOMBSTONE_REAPED_GONE(null, 1, KEPT, (bench, claim) -> {
        settle(bench, claim, State.COMPLETED, "completed");
        bench.advance(RETENTION);
        assertThat(bench.node().purge(10)).isPositive();
        bench.advance(TOMBSTONE);
    }),
    DELETED(null, 1, TERMS, (bench, claim) -> {
        settle(bench, claim, State.COMPLETED, "completed");
        bench.advance(RETENTION);
        assertThat(bench.node().purge(10)).isPositive();
    });

    /** What a reader is shown; empty if nothing. */
    final @Nullable State shown;

    final int attempt;
    private final Terms terms;
    private final BiConsumer<Bench, ClaimRequest> steps;

    Situation(@Nullable State shown, int attempt, Terms terms, BiConsumer<Bench, ClaimRequest> steps) {
        this.shown = shown;
        this.attempt = attempt;
        this.terms = terms;
        this.steps = steps;
    }

    /** Brings about the situation and returns the claim (or acceptance) that stood at its beginning. */
    ClaimRequest arrange(Bench bench, String key) {
        ClaimRequest claim = on(terms, Requests.fresh(key));
        steps.accept(bench, claim);
        return claim;
    }

    /** Whether a claim of the same request gets the entry. */
    boolean claimable() {
        return shown == null || shown.canBecome(State.PROCESSING);
    }

    /** Whether the claim that stood at the beginning is still there to be settled or renewed. */
    boolean held() {
        return shown == State.PROCESSING;
    }

    /** Whether the first owner may settle it so: its claim is there, or it is unknown and the owner knows more. */
    boolean settles(State to) {
        return held() || (shown == State.UNKNOWN && shown.canBecome(to));
    }

    /** Whether the first owner's token is gone from the entry. */
    boolean fenced() {
        return switch (this) {
            case FAILED_ABANDONED, RETRYABLE_SWEPT, RETRYABLE_RESOLVED, COMPLETED_RESOLVED -> true;
            default -> false;
        };
    }

    private static void lapse(Bench bench, ClaimRequest claim) {
        bench.claimed(claim);
        bench.advance(LEASE);
    }

    private static void sweep(Bench bench, ClaimRequest claim) {
        lapse(bench, claim);
        assertThat(bench.node().sweep(10)).hasSize(1);
    }

    private static void settle(Bench bench, ClaimRequest claim, State to, @Nullable String result) {
        bench.claimed(claim);
        bench.settled(claim, to, result == null ? null : bytes(result));
    }
}
