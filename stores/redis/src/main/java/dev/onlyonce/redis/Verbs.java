package dev.onlyonce.redis;

import static dev.onlyonce.redis.Partitions.bytes;
import static java.util.Objects.requireNonNull;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.RenewResult;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The scripts for lists, what they take for an item, and how their answers are read. Immutable. */
final class Verbs {
    private static final byte[] NONE = {};

    final Batch.Verb<ClaimRequest, ClaimResult> claim;
    final Batch.Verb<Settlement, SettleResult> settle;
    final Batch.Verb<Renewal, RenewResult> renew;
    final Batch.Verb<Resolution, SettleResult> resolve;
    private final Script find;

    Verbs(Optional<String> clock) {
        claim = new Batch.Verb<>(
                Script.of("claim", clock),
                ClaimRequest::id,
                Verbs::arguments,
                Verbs::claimed,
                Optional.of(ClaimResult::refused));
        settle = new Batch.Verb<>(
                Script.of("settle", clock),
                Settlement::id,
                Verbs::arguments,
                (item, answer, now) -> settled(answer, now),
                Optional.of(failure -> new SettleResult.Busy()));
        renew = new Batch.Verb<>(
                Script.of("renew", clock),
                Renewal::id,
                r -> List.of(StoredEntry.token(r.token()), number(r.lease().toMillis())),
                (item, answer, now) -> Long.valueOf(1).equals(answer) ? RenewResult.RENEWED : RenewResult.LOST,
                Optional.of(failure -> RenewResult.BUSY));
        resolve = new Batch.Verb<>(
                Script.of("resolve", clock),
                Resolution::id,
                Verbs::arguments,
                (item, answer, now) -> settled(answer, now),
                Optional.empty());
        find = Script.of("find", clock);
    }

    /**
     * Reads entries.
     *
     * @param bytes how much of them; 0 for all
     */
    Batch.Verb<EntryId, Optional<Entry>> find(int bytes) {
        return new Batch.Verb<>(
                find,
                Function.identity(),
                id -> List.of(number(bytes)),
                (id, answer, now) -> StoredEntry.read(id, (byte[]) answer, now),
                Optional.empty());
    }

    private static List<byte[]> arguments(ClaimRequest r) {
        return List.of(StoredEntry.head(r), StoredEntry.tail(r));
    }

    private static ClaimResult claimed(ClaimRequest request, @Nullable Object answer, Instant now) {
        if (Reply.isLarge(answer)) {
            return new ClaimResult.Large();
        }
        return answer instanceof Long attempt
                ? new ClaimResult.Claimed(attempt.intValue())
                : new ClaimResult.Existing(
                        StoredEntry.read(request.id(), (byte[]) answer, now).orElseThrow());
    }

    private static List<byte[]> arguments(Settlement s) {
        return List.of(
                StoredEntry.token(s.token()),
                new byte[] {(byte) s.to().code()},
                number(s.result() == null ? 0 : 1),
                s.result() == null ? NONE : s.result(),
                StoredEntry.text(s.reason()));
    }

    private static List<byte[]> arguments(Resolution r) {
        return List.of(
                r.createdAt() == null ? NONE : number(StoredEntry.micros(r.createdAt())),
                number(r.attempt()),
                number(r.to().code()),
                number(r.result() == null ? 0 : 1),
                r.result() == null ? NONE : r.result(),
                bytes(r.who()),
                StoredEntry.text(r.reason()));
    }

    private static SettleResult settled(@Nullable Object answer, Instant now) {
        if (answer instanceof Long expires) {
            return settled(now, expires);
        }
        List<?> parts = (List<?>) requireNonNull(answer);
        long second = (Long) parts.get(1);
        return Long.valueOf(0).equals(parts.get(0))
                ? new SettleResult.Lost(state(second))
                : settled(StoredEntry.instant(second), (Long) parts.get(2));
    }

    private static SettleResult settled(Instant at, long expires) {
        return new SettleResult.Settled(at, expires == 0 ? null : StoredEntry.instant(expires));
    }

    /** The state with this code; null for none. */
    static @Nullable State state(long code) {
        return code == 0 ? null : State.of((int) code);
    }

    static byte[] number(long number) {
        return bytes(Long.toString(number));
    }
}
