package dev.onlyonce.cassandra;

import dev.onlyonce.store.EntryId;
import java.time.Duration;
import java.util.UUID;

/** A row that leads to an entry. */
sealed interface IndexRow {
    /** Rows of one partition are written together. */
    record Partition(String table, int kind, long bucket, int shard) {}

    Partition partition();

    /** What comes due. The codes are stored. */
    enum Kind {
        /** The end of a lease. Short, so that a bucket has few deleted rows. */
        LEASE(1, Duration.ofMinutes(1)),
        /** The time for purging. */
        EXPIRY(2, Duration.ofMinutes(10)),
        /** An audited change. Long, because a year of buckets is listed. */
        AUDIT(3, Duration.ofHours(1));

        private final int code;
        private final long width;

        Kind(int code, Duration width) {
            this.code = code;
            this.width = Micros.of(width);
        }

        int code() {
            return code;
        }

        long bucket(long at) {
            return Math.floorDiv(at, width);
        }

        /** Where a bucket ends. */
        long end(long bucket) {
            return (bucket + 1) * width;
        }
    }

    /**
     * In the table {@code due}.
     *
     * @param mark unique: no other row ever has it
     * @param home the entry's shard
     */
    record Due(Kind kind, int shard, long at, EntryId id, UUID mark, int home) implements IndexRow {
        @Override
        public Partition partition() {
            return new Partition("due", kind.code(), kind.bucket(at), shard);
        }
    }

    /** Which ids are listed. The codes are stored. */
    enum List {
        ALL(1),
        UNKNOWN(2);

        private final int code;

        List(int code) {
            this.code = code;
        }

        int code() {
            return code;
        }
    }

    /** In the table {@code listed}. */
    record Listed(List list, int shard, EntryId id, UUID mark) implements IndexRow {
        @Override
        public Partition partition() {
            return new Partition("listed", list.code(), 0, shard);
        }
    }
}
