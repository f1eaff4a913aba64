package dev.onlyonce.testkit;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.RenewResult;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreBusy;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * A store with rows that somebody else has locked. It answers like either kind of store: one that skips locked rows and says
 * which they are, or one that only knows that the call waited too long.
 */
class HeldRows extends ForwardingStore {
    private final Set<EntryId> skipped = new HashSet<>();
    private final Set<EntryId> locked = new HashSet<>();
    private final Set<EntryId> overloaded = new HashSet<>();

    private final Runnable waitForLock;

    HeldRows(Store store) {
        this(store, () -> {});
    }

    /**
     * Wraps a store.
     *
     * @param waitForLock lets the time pass for which a call waits for a locked row, before it fails
     */
    HeldRows(Store store, Runnable waitForLock) {
        super(store);
        this.waitForLock = waitForLock;
    }

    /** The row is busy, and every call with it is answered for that row alone. */
    synchronized void skip(EntryId id) {
        skipped.add(id);
    }

    /** The row is busy, and every call with it fails: {@link StoreBusy}. */
    synchronized void lock(EntryId id) {
        locked.add(id);
    }

    /** The server that has the row takes nothing, and every call with it is answered for that row alone. */
    synchronized void overload(EntryId id) {
        overloaded.add(id);
    }

    synchronized void letGo(EntryId id) {
        overloaded.remove(id);
        skipped.remove(id);
        locked.remove(id);
    }

    synchronized void letAllGo() {
        overloaded.clear();
        skipped.clear();
        locked.clear();
    }

    private synchronized boolean isSkipped(EntryId id) {
        if (locked.contains(id)) {
            waitForLock.run();
            throw new StoreBusy("a row of the call is locked", null);
        }
        return skipped.contains(id) || overloaded.contains(id);
    }

    @Override
    public List<ClaimResult> claim(List<ClaimRequest> requests) {
        return around(requests, ClaimRequest::id, request -> refused(request.id()), super::claim);
    }

    private synchronized ClaimResult refused(EntryId id) {
        return overloaded.contains(id)
                ? new ClaimResult.Unavailable("the server of a row is overloaded")
                : new ClaimResult.Busy();
    }

    @Override
    public List<SettleResult> settle(List<Settlement> settlements) {
        return around(settlements, Settlement::id, settlement -> new SettleResult.Busy(), super::settle);
    }

    @Override
    public List<RenewResult> renew(List<Renewal> renewals) {
        return around(renewals, Renewal::id, renewal -> RenewResult.BUSY, super::renew);
    }

    @Override
    public List<SettleResult> resolve(List<Resolution> resolutions) {
        if (resolutions.stream().anyMatch(resolution -> isSkipped(resolution.id()))) {
            throw new StoreBusy("a row of the call is locked", null);
        }
        return super.resolve(resolutions);
    }

    private <Q, R> List<R> around(
            List<Q> asked, Function<Q, EntryId> id, Function<Q, R> refused, Function<List<Q>, List<R>> call) {
        List<Boolean> skips = asked.stream().map(id.andThen(this::isSkipped)).toList();
        List<Q> rest = new ArrayList<>();
        for (int i = 0; i < asked.size(); i++) {
            if (!skips.get(i)) {
                rest.add(asked.get(i));
            }
        }
        List<R> answers = call.apply(rest);
        List<R> all = new ArrayList<>();
        int answered = 0;
        for (int i = 0; i < asked.size(); i++) {
            all.add(skips.get(i) ? refused.apply(asked.get(i)) : answers.get(answered++));
        }
        return all;
    }
}
