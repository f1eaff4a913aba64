package dev.onlyonce.check;

import dev.onlyonce.check.wire.Printable;
import java.util.List;

/**
 * How a check ended.
 *
 * @param detail what was seen, or why it could not be checked
 * @param evidence of a failure: the two exchanges that contradict each other
 */
public record CheckResult(Check check, Kind kind, String detail, List<RoundTrip> evidence) {
    /** The ends of a check. */
    public enum Kind {
        /** It is as it should be. */
        PASS,
        /** It is not. */
        FAIL,
        /** It is not, and the chosen standard does not ask for it. */
        NOT_ASKED,
        /** This API, or what is known of it, does not allow the check. */
        NOT_APPLICABLE
    }

    CheckResult under(Standard standard) {
        boolean excused = kind == Kind.FAIL && !check.isAskedBy(standard);
        return excused ? new CheckResult(check, Kind.NOT_ASKED, detail, evidence) : this;
    }

    /** Copies the list; the detail may quote the server, so it is made printable. */
    public CheckResult {
        detail = Printable.of(detail);
        evidence = List.copyOf(evidence);
    }
}
