package dev.onlyonce.redis;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Decision;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Life;
import dev.onlyonce.store.RenewResult;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreTime;
import dev.onlyonce.store.Transition;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What requests and operators do to entries. The rules are {@link Life}'s. */
final class Verbs {
    private Verbs() {}

    /** Takes the key for new. */
    record Claim(Claims claims) implements Verb<ClaimRequest, ClaimResult> {
        @Override
        public EntryId id(ClaimRequest request) {
            return request.id();
        }

        @Override
        public Optional<Known> guess(ClaimRequest request) {
            return Optional.of(Known.ABSENT);
        }

        @Override
        public Swaps.Mode mode() {
            return Swaps.Mode.CLAIM;
        }

        @Override
        public Decision<ClaimResult> decide(@Nullable Entry stored, ClaimRequest request, StoreTime now) {
            return Life.claim(stored, request, now);
        }

        @Override
        public Optional<ClaimResult> refused(StoreException failure) {
            return Optional.of(ClaimResult.refused(failure));
        }

        @Override
        public ClaimResult withoutResult(ClaimResult answer) {
            return answer instanceof ClaimResult.Existing ? new ClaimResult.Large() : answer;
        }

        @Override
        public void changed(ClaimRequest request, Optional<StoredEntry> claim) {
            claim.ifPresent(claims::remember);
        }

        /** If an index has lost the entry, because somebody has deleted or overwritten a key: else nobody would end it. */
        @Override
        public Optional<Swap> repair(ClaimRequest request, Known known) {
            Entry stored = known.stored();
            if (stored == null) {
                return Optional.empty();
            }
            if (stored.state() == State.UNKNOWN) {
                return Optional.of(Swap.moved(known.revision(), Swap.Shape.NO_INDEX, Partitions.UNKNOWN, 0));
            }
            boolean isOpen = Changes.index(stored.state()).equals(Partitions.LEASES);
            return isOpen && !stored.leaseUntil().isAfter(known.at())
                    ? Optional.of(inLeases(known, stored.leaseUntil()))
                    : Optional.empty();
        }
    }

    static Swap inLeases(Verb.Known known, Instant until) {
        return Swap.moved(known.revision(), Swap.Shape.NO_INDEX, Partitions.LEASES, StoredEntry.micros(until));
    }

    /** Takes this node's own claims for unchanged. */
    record Settle(Claims claims) implements Verb<Settlement, SettleResult> {
        @Override
        public EntryId id(Settlement request) {
            return request.id();
        }

        @Override
        public Optional<Known> guess(Settlement request) {
            StoredEntry claim = claims.of(request.id(), request.token());
            return claim == null
                    ? Optional.empty()
                    : Optional.of(new Known(claim, claim.entry().readAt()));
        }

        @Override
        public Decision<SettleResult> decide(@Nullable Entry stored, Settlement request, StoreTime now) {
            return Life.settle(stored, request, now);
        }

        @Override
        public Optional<SettleResult> refused(StoreException failure) {
            return Optional.of(new SettleResult.Busy());
        }

        @Override
        public SettleResult later(SettleResult answer, Duration by) {
            return settledLater(answer, by);
        }

        @Override
        public void changed(Settlement request, Optional<StoredEntry> claim) {
            claims.forget(request.token());
        }
    }

    private static SettleResult settledLater(SettleResult answer, Duration by) {
        if (!(answer instanceof SettleResult.Settled settled)) {
            return answer;
        }
        Instant expires = settled.expiresAt();
        return new SettleResult.Settled(settled.settledAt().plus(by), expires == null ? null : expires.plus(by));
    }

    /** Reads first: how long a lease is now depends on the server's clock. */
    record Renew(Claims claims) implements Verb<Renewal, RenewResult> {
        @Override
        public EntryId id(Renewal request) {
            return request.id();
        }

        @Override
        public Decision<RenewResult> decide(@Nullable Entry stored, Renewal request, StoreTime now) {
            return Life.renew(stored, request, now);
        }

        @Override
        public Optional<RenewResult> refused(StoreException failure) {
            return Optional.of(RenewResult.BUSY);
        }

        @Override
        public void changed(Renewal request, Optional<StoredEntry> claim) {
            claim.ifPresent(claims::remember);
        }
    }

    /** Reads first. */
    record Resolve() implements Verb<Resolution, SettleResult> {
        @Override
        public EntryId id(Resolution request) {
            return request.id();
        }

        @Override
        public Decision<SettleResult> decide(@Nullable Entry stored, Resolution request, StoreTime now) {
            return Life.resolve(stored, request, false, now);
        }

        @Override
        public Optional<SettleResult> refused(StoreException failure) {
            return Optional.empty();
        }

        @Override
        public SettleResult later(SettleResult answer, Duration by) {
            return settledLater(answer, by);
        }
    }

    /** Reads first. */
    record Evict(String who, String reason) implements Verb<EntryId, Optional<Transition>> {
        @Override
        public EntryId id(EntryId request) {
            return request;
        }

        @Override
        public Decision<Optional<Transition>> decide(@Nullable Entry stored, EntryId request, StoreTime now) {
            return Life.evict(stored, who, reason, now);
        }

        @Override
        public Optional<Optional<Transition>> refused(StoreException failure) {
            return Optional.empty();
        }
    }

    /** The state with this code; null for none. */
    static @Nullable State state(long code) {
        return code == 0 ? null : State.of((int) code);
    }

    static byte[] number(long number) {
        return Partitions.bytes(Long.toString(number));
    }
}
