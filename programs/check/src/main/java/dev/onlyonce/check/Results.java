package dev.onlyonce.check;

import dev.onlyonce.check.CheckResult.Kind;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Collects results; the first one of a check stands. */
final class Results {
    private final Map<Check, CheckResult> found = new EnumMap<>(Check.class);

    void pass(Check check, String detail) {
        add(new CheckResult(check, Kind.PASS, detail, List.of()));
    }

    void fail(Check check, String detail, RoundTrip... evidence) {
        add(new CheckResult(check, Kind.FAIL, detail, List.of(evidence)));
    }

    /** Fails for a reason, or passes if there is none. */
    void judge(Check check, @Nullable String failure, String passed, RoundTrip... evidence) {
        if (failure == null) {
            pass(check, passed);
        } else {
            fail(check, failure, evidence);
        }
    }

    void skip(Check check, String why) {
        add(new CheckResult(check, Kind.NOT_APPLICABLE, why, List.of()));
    }

    /** Takes what a probe found, unless there is a result already. */
    void addAll(Results others) {
        others.found.values().forEach(this::add);
    }

    private void add(CheckResult result) {
        found.putIfAbsent(result.check(), result);
    }

    boolean isSkipped(Check check) {
        CheckResult result = found.get(check);
        return result != null && result.kind() == Kind.NOT_APPLICABLE;
    }

    @Nullable
    CheckResult get(Check check) {
        return found.get(check);
    }
}
