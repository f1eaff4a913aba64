package dev.onlyonce.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Terms;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Claim requests, and the same ones with one thing changed. */
final class Requests {
    static final Duration MICRO = Duration.ofNanos(1000);
    static final Duration LEASE = Duration.ofSeconds(30);
    static final Duration RETENTION = Duration.ofHours(24);
    static final Duration TOMBSTONE = Duration.ofDays(7);
    /** No tombstone, and nobody knows when the lease is lost. */
    static final Terms TERMS = new Terms(LEASE, OnLeaseLost.UNKNOWN, RETENTION, Duration.ZERO);

    static final Terms KEPT = new Terms(LEASE, OnLeaseLost.UNKNOWN, RETENTION, TOMBSTONE);
    static final Terms RETRIED = new Terms(LEASE, OnLeaseLost.RETRY, RETENTION, Duration.ZERO);
    static final String TENANT = "acme";
    static final String OPERATION = "POST /payments";

    private Requests() {}

    static ClaimRequest fresh(String key) {
        return fresh(TENANT, key);
    }

    static ClaimRequest fresh(String tenant, String key) {
        return of(new EntryId(tenant, "", key));
    }

    static ClaimRequest of(EntryId id) {
        return new ClaimRequest(
                id, OPERATION, fingerprint("the request"), UUID.randomUUID(), "node-1", TERMS, State.PROCESSING);
    }

    static List<ClaimRequest> several(String prefix, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> fresh("%s-%04d".formatted(prefix, i)))
                .toList();
    }

    /** Another caller with the same request. */
    static ClaimRequest rival(ClaimRequest r) {
        return new ClaimRequest(
                r.id(), r.operation(), r.fingerprint(), UUID.randomUUID(), "node-2", r.terms(), State.PROCESSING);
    }

    /** The same, to be accepted for a worker. */
    static ClaimRequest accepting(ClaimRequest r) {
        return new ClaimRequest(r.id(), r.operation(), r.fingerprint(), r.token(), r.owner(), r.terms(), State.PENDING);
    }

    static ClaimRequest on(Terms terms, ClaimRequest r) {
        return new ClaimRequest(r.id(), r.operation(), r.fingerprint(), r.token(), r.owner(), terms, r.start());
    }

    static ClaimRequest withBody(String body, ClaimRequest r) {
        return new ClaimRequest(r.id(), r.operation(), fingerprint(body), r.token(), r.owner(), r.terms(), r.start());
    }

    static ClaimRequest withOperation(String operation, ClaimRequest r) {
        return new ClaimRequest(r.id(), operation, r.fingerprint(), r.token(), r.owner(), r.terms(), r.start());
    }

    static ClaimRequest withOwner(String owner, ClaimRequest r) {
        return new ClaimRequest(r.id(), r.operation(), r.fingerprint(), r.token(), owner, r.terms(), r.start());
    }

    static ClaimRequest withTarget(@Nullable String target, ClaimRequest r) {
        Fingerprint about = r.fingerprint().about(target);
        return new ClaimRequest(r.id(), r.operation(), about, r.token(), r.owner(), r.terms(), r.start());
    }

    static Settlement settlement(ClaimRequest claim, State to, byte @Nullable [] result) {
        return settlement(claim, to, result, "as the test says");
    }

    static Settlement settlement(ClaimRequest claim, State to, byte @Nullable [] result, String reason) {
        return Settlement.of(claim.id(), claim.token(), to, Optional.ofNullable(result), reason);
    }

    static Resolution resolution(EntryId id, int attempt, State to, byte @Nullable [] result) {
        return resolution(id, attempt, to, result, "as the test says");
    }

    static Resolution resolution(EntryId id, int attempt, State to, byte @Nullable [] result, String text) {
        return Resolution.of(id, attempt, to, Optional.ofNullable(result), text, text);
    }

    static Fingerprint fingerprint(String body) {
        return Fingerprint.of(bytes(body));
    }

    static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }
}
