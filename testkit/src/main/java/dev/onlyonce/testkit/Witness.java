package dev.onlyonce.testkit;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Looks at all entries before and after every call that may change them, and allows only what the states allow. */
final class Witness extends ForwardingStore {
    private final World world;
    private final Map<EntryId, Set<Fingerprint>> fingerprints = new HashMap<>();

    /** By name, as the ledger has them. */
    private final Set<String> evicted = new HashSet<>();

    /** Entries change by themselves only when time passes. */
    private Map<EntryId, Snapshot> seen = Map.of();

    private long seenAt = -1;

    Witness(World world, Store store) {
        super(store);
        this.world = world;
    }

    @Override
    <T> T around(Verb verb, Object asked, Supplier<T> call) {
        if (verb == Verb.FIND || verb == Verb.LIST) {
            return call.get();
        }
        Map<EntryId, Snapshot> before = world.nanos() == seenAt ? seen : entries();
        T answer = call.get();
        Map<EntryId, Snapshot> after = entries();
        seen = after;
        seenAt = world.nanos();
        after.forEach((id, now) -> {
            Snapshot then = before.get(id);
            if (!now.equals(then)) {
                check(verb, then, now);
            }
        });
        before.forEach((id, then) -> {
            if (verb == Verb.EVICT && !after.containsKey(id)) {
                evicted.add(Ledger.name(id, then.createdAt()));
            } else if (!after.containsKey(id)) {
                throw new AssertionError(verb + " deleted " + id.key() + ", which still answers as " + then.state());
            }
        });
        return answer;
    }

    private void check(Verb verb, @Nullable Snapshot then, Snapshot now) {
        world.note(
                "store",
                verb + " " + now.id().key() + ": " + (then == null ? "absent" : then.state()) + " → " + now.state()
                        + ", attempt " + now.attempt());
        fingerprints.computeIfAbsent(now.id(), id -> new HashSet<>()).add(now.fingerprint());
        if (then == null) {
            require(now.attempt() <= 1, "a new entry is at attempt 1", now);
            return;
        }
        require(now.createdAt().equals(then.createdAt()), "an entry was replaced while it still answered", now);
        require(now.fingerprint().equals(then.fingerprint()), "the fingerprint changed", now);
        require(now.operation().equals(then.operation()), "the operation changed", now);
        boolean moved = now.state() != then.state();
        if (moved && now.state() == State.UNKNOWN && world.hasOnly(Trouble.OUTAGES)) {
            throw new AssertionError("D13 a known result was thrown away: " + now);
        }
        require(!moved || then.state().canBecome(now.state()), "not a transition from " + then.state(), now);
        boolean claimed = moved && now.state() == State.PROCESSING;
        require(now.attempt() == then.attempt() + (claimed ? 1 : 0), "attempts are counted by claims", now);
        require(moved || !then.state().isAnswered(), "an answer changed", now);
    }

    private static void require(boolean holds, String what, Snapshot entry) {
        if (!holds) {
            throw new AssertionError(what + ": " + entry);
        }
    }

    /** Whether an operator has evicted this entry; the next one of the same key is another. */
    boolean wasEvicted(String name) {
        return evicted.contains(name);
    }

    /** Whether the key was ever used for another request than this. */
    boolean sawOther(EntryId id, Fingerprint fingerprint) {
        return fingerprints.getOrDefault(id, Set.of()).stream().anyMatch(seen -> !seen.equals(fingerprint));
    }

    Map<EntryId, Snapshot> entries() {
        Map<EntryId, Snapshot> entries = new LinkedHashMap<>();
        list(EntryQuery.all(EntryQuery.LIMIT_MAX)).forEach(entry -> entries.put(entry.id(), Snapshot.of(entry)));
        return entries;
    }
}
