package dev.onlyonce.check;

import dev.onlyonce.check.Check.Weight;
import dev.onlyonce.check.CheckResult.Kind;
import java.net.URI;
import java.util.List;

/**
 * What a run found.
 *
 * @param counted whether effects were counted; otherwise they were inferred from the answers
 * @param results one for every check, in their order
 */
public record CheckReport(URI target, boolean counted, List<CheckResult> results) {
    /** Copies the list. */
    public CheckReport {
        results = List.copyOf(results);
    }

    /** Those that ended like this. */
    public List<CheckResult> of(Kind kind) {
        return results.stream().filter(result -> result.kind() == kind).toList();
    }

    /** Whether everything that applies passed, and something did. */
    public boolean isPassed() {
        return of(Kind.FAIL).isEmpty() && !of(Kind.PASS).isEmpty();
    }

    /** A: everything that applies passed. B: clients have to work harder. C: they cannot rely on it. F: it is not safe. */
    public char grade() {
        if (isPassed()) {
            return 'A';
        }
        if (isFailed(Weight.SAFETY) || of(Kind.PASS).isEmpty()) {
            return 'F';
        }
        return isFailed(Weight.CONTRACT) ? 'C' : 'B';
    }

    private boolean isFailed(Weight weight) {
        return of(Kind.FAIL).stream().anyMatch(result -> result.check().weight() == weight);
    }
}
