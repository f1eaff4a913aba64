package dev.onlyonce.check;

import java.util.List;

/**
 * Some requests from which one or more checks are decided.
 *
 * @param requests how many it sends, unless the API asks it to wait and to come again
 */
record Probe(List<Check> checks, int requests, Script script) {
    static Probe of(int requests, Script script, Check... checks) {
        return new Probe(List.of(checks), requests, script);
    }

    /** Sends the requests and judges the answers. */
    @FunctionalInterface
    interface Script {
        void run(Session session, Results results) throws CannotCheck;
    }
}
