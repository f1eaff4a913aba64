package dev.onlyonce.prove;

/** What somebody outside the stores saw. Times are of the machine's monotonic clock, which all processes share. */
sealed interface Seen {
    long begun();

    /** Whether it belongs to the history of a work. */
    boolean isAbout(Work work);

    /** A request and its answer; status 0 if none came. */
    record Asked(
            Work work, String body, String node, long begun, long ended, int status, String answer, boolean replayed)
            implements Seen {
        @Override
        public boolean isAbout(Work other) {
            return work.equals(other);
        }

        boolean isAnswered() {
            return status == 200;
        }

        boolean isMisuse() {
            return !body.equals(work.body());
        }

        @Override
        public String toString() {
            return "asks " + node + " for " + work + (isMisuse() ? " with ANOTHER BODY" : "") + " -> "
                    + (status == 0 ? "no answer" : status) + (replayed ? " replayed" : "") + " " + answer;
        }
    }

    /** An effect on the ledger, or in the table of a transaction. */
    record Effect(Work work, String step, String body, String id, String node, long begun) implements Seen {
        @Override
        public boolean isAbout(Work other) {
            return work.equals(other);
        }

        @Override
        public String toString() {
            return "EFFECT " + id + " of " + work + (step.isEmpty() ? "" : " step " + step) + " by " + node;
        }
    }

    /** An operator's eviction. */
    record Evicted(Work work, long begun, long ended, boolean certain) implements Seen {
        @Override
        public boolean isAbout(Work other) {
            return work.equals(other);
        }

        @Override
        public String toString() {
            return "operator evicts " + work + (certain ? "" : ", and gets no answer");
        }
    }

    /** What the nemesis did. */
    record Fault(long begun, String what) implements Seen {
        /** Ends the name of a disaster in which another server takes over. */
        static final String FAILOVER = "fail over";

        /** Whether another server has taken over now. */
        boolean isFailover() {
            return what.startsWith("over: ") && what.endsWith(FAILOVER);
        }

        @Override
        public boolean isAbout(Work other) {
            return true;
        }

        @Override
        public String toString() {
            return "NEMESIS " + what;
        }
    }
}
