package dev.onlyonce.check;

import java.util.List;

/**
 * Some requests from which one or more checks are decided.
 *
 * @param effectsMax how many of its requests could have an effect on an API that knows no keys
 */
record Probe(List<Check> checks, int effectsMax, Script script) {
    static Probe of(int effectsMax, Script script, Check... checks) {
        return new Probe(List.of(checks), effectsMax, script);
    }

    /** Sends the requests and judges the answers. */
    @FunctionalInterface
    interface Script {
        void run(Session session, Results results) throws CannotCheck;
    }
}
