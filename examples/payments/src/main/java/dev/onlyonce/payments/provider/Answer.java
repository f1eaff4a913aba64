package dev.onlyonce.payments.provider;

/**
 * What becomes of a call.
 *
 * @param status the HTTP status
 * @param body to be written as JSON
 */
record Answer(Fate fate, int status, Object body) {
    /** Whether the caller gets to see it. */
    enum Fate {
        SENT,
        DROPPED,
        RESET
    }

    static Answer ok(Object body) {
        return new Answer(Fate.SENT, 200, body);
    }

    static Answer of(int status, Object body) {
        return new Answer(Fate.SENT, status, body);
    }

    static Answer never(Fate fate) {
        return new Answer(fate, 0, "");
    }
}
