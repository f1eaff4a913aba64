package dev.onlyonce.redis;

import java.util.Arrays;

/**
 * What {@code swap.lua} does with one entry, if that is as expected.
 *
 * @param shape what it has in common with others: they share commands
 * @param expected how the entry begins; empty if there must be none
 * @param next what is written
 * @param records for the audit
 * @param until when all this holds at the latest, in µs
 */
record Swap(Shape shape, byte[] expected, Next next, byte[] records, long until) {
    static final long ALWAYS = Long.MAX_VALUE;
    private static final byte[] NONE = {};

    /** Changes nothing: an entry that exists is not as expected, and answered. */
    static final Swap READ = new Swap(
            new Shape(Todo.KEEP, Stamp.NONE, 0, Shape.NO_INDEX, Shape.NO_INDEX, 0, 0),
            NONE,
            Next.NOTHING,
            NONE,
            ALWAYS);

    /** What happens to the value: the command, if there is one. */
    enum Todo {
        MSET,
        DEL,
        KEEP
    }

    /** Which times the script writes into an entry, from its clock. */
    enum Stamp {
        /** None: the index gets the number itself. */
        NONE,
        /** The server's time plus {@code micros}. */
        LATER,
        /** The server's time, and the server's time plus {@code micros}. */
        BOTH,
        /** The time, and that there is no later one. */
        NEVER
    }

    /**
     * What entries have in common that are swapped together.
     *
     * @param from the index that they leave
     * @param to the index that they enter
     * @param recordsEach how many audit records each has
     * @param more how many entries there are more of its tenant: 1 for a new one, -1 for one that is gone
     */
    record Shape(Todo todo, Stamp stamp, long micros, String from, String to, int recordsEach, int more) {
        static final String NO_INDEX = "";
    }

    /** Only moves its place in the indexes: an index had lost it, or had it too long. */
    static Swap moved(byte[] expected, String from, String to, long score) {
        boolean isGone = expected.length == 0;
        Shape shape = new Shape(Todo.KEEP, Stamp.NONE, score, from, to, 0, isGone ? -1 : 0);
        return new Swap(shape, expected, Next.NOTHING, NONE, ALWAYS);
    }

    /** Only adds records. */
    static Swap recorded(byte[] expected, int recordsEach, byte[] records) {
        Shape shape = new Shape(Todo.KEEP, Stamp.NONE, 0, Shape.NO_INDEX, Shape.NO_INDEX, recordsEach, 0);
        return new Swap(shape, expected, Next.NOTHING, records, ALWAYS);
    }

    static Swap deleted(byte[] expected, String from, int recordsEach, byte[] records) {
        Shape shape = new Shape(Todo.DEL, Stamp.NONE, 0, from, Shape.NO_INDEX, recordsEach, -1);
        return new Swap(shape, expected, Next.NOTHING, records, ALWAYS);
    }

    /**
     * The next entry in three parts: the script writes times between the first and the second one.
     *
     * @param result not copied: it may have megabytes
     */
    record Next(byte[] before, byte[] after, byte[] result) {
        private static final Next NOTHING = new Next(NONE, NONE, NONE);

        /**
         * Parts an entry.
         *
         * @param at where the times begin
         */
        static Next of(StoredEntry entry, Stamp stamp, int at) {
            byte[] raw = entry.raw();
            byte[] result = entry.entry().result();
            int times = switch (stamp) {
                case NONE -> 0;
                case LATER -> Double.BYTES;
                case BOTH, NEVER -> 2 * Double.BYTES;
            };
            return new Next(
                    Arrays.copyOf(raw, at),
                    Arrays.copyOfRange(raw, at + times, raw.length),
                    result == null ? NONE : result);
        }
    }

    int bytes() {
        return expected.length + next.before.length + next.after.length + next.result.length + records.length;
    }
}
