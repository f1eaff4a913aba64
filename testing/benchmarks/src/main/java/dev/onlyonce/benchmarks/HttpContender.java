package dev.onlyonce.benchmarks;

/** The applications that answer the same request, each in its way. */
enum HttpContender {
    /** No protection: one commit. */
    BARE("bare"),
    /** The starter's leased way. */
    LEASED("leased"),
    /** Three commits: claim, effect, record. */
    LEASED_BY_HAND("three commits by hand"),
    /** The starter's transactional way. */
    TRANSACTIONAL("transactional"),
    /** Claim, effect and record in one transaction. */
    TRANSACTIONAL_BY_HAND("one transaction by hand");

    private final String shown;

    HttpContender(String shown) {
        this.shown = shown;
    }

    String shown() {
        return shown;
    }

    boolean isStarter() {
        return this == LEASED || this == TRANSACTIONAL;
    }
}
