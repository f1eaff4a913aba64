package dev.onlyonce.testkit;

/** What {@link dev.onlyonce.store.Life} writes, changed: a time, an attempt, a token, a name. */
enum LifeValue {
    COUNTS_NO_ATTEMPT("attempts + 1 :", "attempts :"),
    COUNTS_ACCEPTANCES("attempts + 1 : attempts", "attempts + 1 : attempts + 1"),
    STARTS_TO_COUNT_AGAIN("stored.fingerprint(), stored.attempt()", "stored.fingerprint(), 0"),
    FORGETS_WHEN_IT_BEGAN("stored.attempt(), stored.createdAt()", "stored.attempt(), now.latest()"),
    TAKES_THE_NEWEST_TARGET("request, stored.fingerprint()", "request, request.fingerprint()"),
    GIVES_NO_LEASE("now.latest().plus(request.terms().lease())", "now.latest()"),
    KEEPS_WITHOUT_A_LEASE("leased(stored, now.latest().plus(stored.terms().lease()), now)", "stored"),
    RENEWS_FROM_THE_OLD_END("now.latest().plus(renewal.lease())", "stored.leaseUntil().plus(renewal.lease())"),
    SHORTENS_TO_NOTHING("leased(stored, longest, now)", "leased(stored, now.latest(), now)"),
    FORGETS_ITS_OWNER_WHEN_SETTLED("settlement.to(), settlement.token()", "settlement.to(), null"),
    FORGETS_THE_RESULT("settlement.result()", "null"),
    FORGETS_THE_FINDING("resolution.result()", "null"),
    RESOLVES_WITHOUT_FENCING("resolution.to(), null", "resolution.to(), stored.token()"),
    SWEEPS_WITHOUT_FENCING("to == State.UNKNOWN ? stored.token() : null", "stored.token()"),
    HEARS_NO_TESTIMONY("to == State.UNKNOWN ? stored.token() : null", "null"),
    SWEEPS_AS_UNKNOWN("stored.terms().onLeaseLost().next()", "State.UNKNOWN"),
    FAILS_NOTHING("pending ? State.FAILED", "pending ? State.RETRYABLE"),
    KEEPS_FOR_NO_TIME("stored.terms().retention()", "Duration.ZERO"),
    COUNTS_RETENTION_FROM_THE_CLAIM("now.latest().plus(retention)", "stored.createdAt().plus(retention)"),
    LEAVES_NO_TOMBSTONE(": stored.terms().tombstone()", ": Duration.ZERO"),
    SETTLES_AS_OF_THE_CLAIM(
            "stored.leaseUntil(),\n                now.latest(),",
            "stored.leaseUntil(),\n                stored.createdAt(),"),
    NAMES_THE_OLD_OWNER("taken.state(), request.owner()", "taken.state(), stored.owner()"),
    NAMES_THE_SWEPT_OWNER("SWEEPER, pending", "stored.owner(), pending"),
    NAMES_THE_REPLACED_OWNER("null, request.owner(), OVER", "null, stored.owner(), OVER");

    private final String text;
    private final String replacement;

    LifeValue(String text, String replacement) {
        this.text = text;
        this.replacement = replacement;
    }

    SourceChange in(RuleBook book) {
        return book.change(text, replacement);
    }
}
