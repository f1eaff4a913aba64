package dev.onlyonce.prove;

/** What the checklists of the field ask for, in the order in which the command checks it. */
enum CheckItem {
    ATOMIC("Atomic reservation", "of 40 simultaneous first requests on two nodes, one executes", "C1"),
    INDEX(
            "Unique index",
            "the claim, as the database ran it, is decided by a unique index: its plan names the index",
            "C2"),
    LOSERS("Losers get 409 with Retry-After", "a duplicate of a running request executes nothing", "C3, C4"),
    TENANTS("Tenant isolation", "two tenants that use one key get answers of their own", "K7"),
    REPLAY("Replay", "a retry gets the same status and bytes, marked as a replay, on the other node too", "R1"),
    MISMATCH(
            "Mismatch in every state",
            "another body with a known key gets 422: running, completed, retryable and unknown",
            "F1"),
    MISSING("Missing key", "a POST without a key gets 400 and executes nothing", "K4"),
    NATURAL("PUT, GET and DELETE need no key", "they pass", "K4, N2"),
    SERVER_ERROR("Retry after 500", "a 500 that the service answered is not stored: the next retry executes", "R2"),
    CRASH(
            "Crash after the external effect, before the local record",
            "the node is killed between both; a retry finds the effect and does not repeat it",
            "D1, D6"),
    STUCK(
            "Stuck keys end within the time-out",
            "the key of a killed node is in progress for a lease and a sweep at most",
            "D1"),
    STEPS(
            "A killed stepped operation resumes",
            "another node continues after the last finished step and repeats none",
            "D8"),
    STORE_DOWN("Store down means nothing runs", "503 with Retry-After and no effect; later it works again", "D9"),
    RETENTION("Retry after retention", "executes as new; where a tombstone is kept, 410", "T1, T2"),
    REAPER("Reaper under load", "deletes expired keys while requests are served, and none that still answers", "T3"),
    METRICS("Metrics per tenant", "created, replayed and refused requests are counted for each tenant", "S1");

    private final String title;
    private final String shown;
    private final String promises;

    CheckItem(String title, String shown, String promises) {
        this.title = title;
        this.shown = shown;
        this.promises = promises;
    }

    String title() {
        return title;
    }

    /** What the command shows. */
    String shown() {
        return shown;
    }

    /** The ids of the promises that it is about. */
    String promises() {
        return promises;
    }
}
