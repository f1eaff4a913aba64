package dev.onlyonce.internal;

import dev.onlyonce.store.Store;
import java.util.ArrayList;
import java.util.List;

/** What {@link GroupCommit} has under way to the store, under its lock. */
final class Lanes {
    /** So many items are worth a call of their own at any time; larger batches cost hardly less for each item. */
    static final int WORTH_A_CALL = 32;

    private final List<Lane> lanes = new ArrayList<>();

    private static final class Lane {
        /** 0: it is free. */
        private int items;

        private long busySince;
        private List<Item<?>> batch = List.of();
    }

    Lanes(int count) {
        for (int lane = 0; lane < count; lane++) {
            lanes.add(new Lane());
        }
    }

    /** One that carries nothing, or {@link Item#NO_LANE}. */
    int findFree() {
        for (int lane = 0; lane < lanes.size(); lane++) {
            if (lanes.get(lane).items == 0) {
                return lane;
            }
        }
        return Item.NO_LANE;
    }

    /** Whether so many items should go now, or gather until there are more or a call under way is done. */
    boolean isWorthACall(int items) {
        int most = 0;
        for (Lane lane : lanes) {
            most = Math.max(most, lane.items);
        }
        return items >= Math.min(most, WORTH_A_CALL);
    }

    /** Whether none has come back for so long. */
    boolean isStuck(long nowNanos, long waitMaxNanos) {
        for (Lane lane : lanes) {
            if (lane.items == 0 || nowNanos - lane.busySince < waitMaxNanos) {
                return false;
            }
        }
        return true;
    }

    /** Takes a lane for about so many items. */
    void occupy(int lane, int items, long nowNanos) {
        lanes.get(lane).items = Math.min(items, Store.BATCH_MAX);
        lanes.get(lane).busySince = nowNanos;
    }

    /** Says what a lane carries. */
    void load(int lane, List<Item<?>> batch) {
        lanes.get(lane).items = Math.max(1, batch.size());
        lanes.get(lane).batch = batch;
    }

    /** Ends what {@link #occupy} began. */
    void free(int lane) {
        lanes.get(lane).items = 0;
        lanes.get(lane).batch = List.of();
    }

    List<Item<?>> batch(int lane) {
        return lanes.get(lane).batch;
    }

    /** Everything that is under way. */
    List<Item<?>> carried() {
        List<Item<?>> carried = new ArrayList<>();
        lanes.forEach(lane -> carried.addAll(lane.batch));
        return carried;
    }
}
