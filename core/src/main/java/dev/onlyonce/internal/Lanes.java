package dev.onlyonce.internal;

import dev.onlyonce.store.Store;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The batches that {@link CallQueue} has under way to the store; guarded by its lock. */
final class Lanes {
    /** This many calls go at once, whatever is under way: a larger batch hardly costs less per call. */
    static final int WORTH_A_CALL = 32;

    private final List<Lane> lanes;

    private static final class Lane {
        /** How many calls it carries; 0 if it is free. */
        private int size;

        private long busySince;
        private List<PendingCall<?, ?>> batch = List.of();
    }

    Lanes(int count) {
        lanes = Stream.generate(Lane::new).limit(count).toList();
    }

    /** Returns a free lane, or {@link PendingCall#NO_LANE}. */
    int findFree() {
        for (int lane = 0; lane < lanes.size(); lane++) {
            if (lanes.get(lane).size == 0) {
                return lane;
            }
        }
        return PendingCall.NO_LANE;
    }

    /** Whether {@code calls} calls should go now, or gather until there are more or a batch under way is done. */
    boolean isWorthACall(int calls) {
        int most = 0;
        for (Lane lane : lanes) {
            most = Math.max(most, lane.size);
        }
        return calls >= Math.min(most, WORTH_A_CALL);
    }

    /** Whether every lane has been busy for at least {@code waitMaxNanos}. */
    boolean isStuck(long nowNanos, long waitMaxNanos) {
        for (Lane lane : lanes) {
            if (lane.size == 0 || nowNanos - lane.busySince < waitMaxNanos) {
                return false;
            }
        }
        return true;
    }

    /** Takes a lane for about {@code calls} calls. */
    void occupy(int lane, int calls, long nowNanos) {
        lanes.get(lane).size = Math.min(calls, Store.BATCH_MAX);
        lanes.get(lane).busySince = nowNanos;
    }

    /** Sets the batch of a lane that is occupied. */
    void load(int lane, List<PendingCall<?, ?>> batch) {
        lanes.get(lane).size = Math.max(1, batch.size());
        lanes.get(lane).batch = batch;
    }

    /** Frees an occupied lane. */
    void free(int lane) {
        lanes.get(lane).size = 0;
        lanes.get(lane).batch = List.of();
    }

    List<PendingCall<?, ?>> batch(int lane) {
        return lanes.get(lane).batch;
    }

    /** The calls of all batches under way. */
    List<PendingCall<?, ?>> underWay() {
        List<PendingCall<?, ?>> calls = new ArrayList<>();
        lanes.forEach(lane -> calls.addAll(lane.batch));
        return calls;
    }
}
