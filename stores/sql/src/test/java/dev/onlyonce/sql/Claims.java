package dev.onlyonce.sql;

import dev.onlyonce.Key;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Terms;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;

/** Requests for tests. */
public final class Claims {
    public static final Duration LEASE = Duration.ofSeconds(30);
    public static final Duration RETENTION = Duration.ofHours(1);
    public static final Terms TERMS = new Terms(LEASE, OnLeaseLost.UNKNOWN, RETENTION, Duration.ZERO);

    private Claims() {}

    public static EntryId id(String key) {
        return new EntryId("tenant", "", key);
    }

    public static ClaimRequest claim(String key) {
        return claim(key, TERMS);
    }

    public static ClaimRequest claim(String key, Terms terms) {
        Fingerprint fingerprint = Fingerprint.of(key.getBytes(StandardCharsets.UTF_8));
        return new ClaimRequest(
                id(key), "POST /payments", fingerprint, UUID.randomUUID(), "node", terms, State.PROCESSING);
    }

    public static List<ClaimRequest> claims(String prefix, int count) {
        return IntStream.range(0, count).mapToObj(i -> claim(prefix + i)).toList();
    }

    public static Settlement settle(ClaimRequest claim, State to) {
        byte[] result = to.isAnswered() ? "result".getBytes(StandardCharsets.UTF_8) : null;
        return new Settlement(claim.id(), claim.token(), to, result, "test");
    }

    public static List<Settlement> complete(List<ClaimRequest> claims) {
        return claims.stream().map(c -> settle(c, State.COMPLETED)).toList();
    }

    /** Attempt, from, to, who and why of each audit record of a key. */
    public static List<String> history(Store store, Key key) {
        return store.history(key.entryId()).stream()
                .map(AuditRecord::transition)
                .map(t -> t.attempt() + " " + t.from() + ">" + t.to() + " " + t.who() + ": " + t.why())
                .toList();
    }

    public static long won(List<ClaimResult> results) {
        return results.stream().filter(ClaimResult.Claimed.class::isInstance).count();
    }
}
