package dev.onlyonce.http;

import java.util.concurrent.CompletionStage;

/**
 * A request that has been checked without asking the store, for callers that must not block: event loops.
 */
public sealed interface Prepared {

    /** There is no need to ask the store: the request is refused, passes through, or is answered from memory. */
    record Decided(HttpDecision decision) implements Prepared {}

    /** The key is to be claimed. For one thread at a time. */
    final class Ready implements Prepared {
        private final Begin begin;
        private boolean inFlight;

        Ready(Begin begin) {
            this.begin = begin;
        }

        /** Claims. */
        interface Begin {
            HttpDecision begin(Ready ready);

            CompletionStage<HttpDecision> begin(Ready ready, EventLoop on);
        }

        /** Claims, and blocks for as long as the store takes and the policy lets a duplicate wait. */
        public HttpDecision begin() {
            return begin.begin(this);
        }

        /**
         * Claims without blocking: a duplicate of a running request does not wait. Whatever goes wrong with the store is an
         * answer too.
         *
         * @return completed on the loop, or at once
         */
        public CompletionStage<HttpDecision> begin(EventLoop on) {
            return begin.begin(this, on);
        }

        /** Whether the last try found that another request is running: {@link #begin()} would wait for it. */
        public boolean isInFlight() {
            return inFlight;
        }

        void setInFlight(boolean inFlight) {
            this.inFlight = inFlight;
        }
    }
}
