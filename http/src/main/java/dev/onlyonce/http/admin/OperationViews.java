package dev.onlyonce.http.admin;

import dev.onlyonce.Policy;
import dev.onlyonce.Registry;
import dev.onlyonce.Way;
import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The operations of a program with everything that holds for them. */
final class OperationViews {
    private OperationViews() {}

    static Operations of(AdminParts parts) {
        Map<String, Operation> byHttp = new LinkedHashMap<>();
        Map<String, Map<String, Object>> terms = new LinkedHashMap<>();
        parts.program().boundary().ifPresent(boundary -> {
            boundary.operations().forEach(operation -> byHttp.put(operation.name(), operation));
            terms.putAll(terms(boundary));
        });
        Set<String> names = new TreeSet<>(byHttp.keySet());
        names.addAll(parts.once().registry().operations());
        List<Operations.OperationView> views = new ArrayList<>();
        for (String name : names) {
            views.add(view(parts, name, Optional.ofNullable(byHttp.get(name)), terms.get(name)));
        }
        return new Operations(
                views,
                parts.program().unprotected(),
                parts.program().coverageRule().orElse(null));
    }

    /** By the operation's name, as clients see them. */
    private static Map<String, Map<String, Object>> terms(Boundary boundary) {
        Map<String, Map<String, Object>> terms = new LinkedHashMap<>();
        Map<?, ?> document = Json.readAnswer(boundary.specification().body(), Map.class);
        if (document.get("operations") instanceof List<?> operations) {
            for (Object operation : operations) {
                if (operation instanceof Map<?, ?> members) {
                    Map<String, Object> named = new LinkedHashMap<>();
                    members.forEach((key, value) -> named.put(String.valueOf(key), value));
                    terms.put(String.valueOf(members.get("name")), named);
                }
            }
        }
        return terms;
    }

    private static Operations.OperationView view(
            AdminParts parts, String name, Optional<Operation> http, @Nullable Map<String, Object> terms) {
        Registry registry = parts.once().registry();
        NodeWatch watch = parts.watch();
        Policy policy = http.map(Operation::policy).orElseGet(() -> registry.policy(name));
        return new Operations.OperationView(
                name,
                registry.way(name)
                        .or(() -> http.map(it -> Way.LEASED))
                        .map(way -> way.name().toLowerCase(Locale.ROOT))
                        .orElse(null),
                http.map(it -> it.profile().name()).orElse(null),
                policy(policy),
                http.map(OperationViews::limits).orElse(List.of()),
                registry.isReconciled(name) ? "asked until it can tell" : "none: an operator has to decide",
                terms,
                watch == null ? Map.of() : watch.seen(name));
    }

    private static List<Operations.Named> policy(Policy policy) {
        return List.of(
                named("Lease", policy.terms().lease(), "how long a claim holds without a heartbeat"),
                new Operations.Named(
                        "When the lease is lost",
                        policy.terms().onLeaseLost().name().toLowerCase(Locale.ROOT),
                        "the next state of a key whose owner died"),
                named("Retention", policy.terms().retention(), "how long retries are answered, counted from settling"),
                named("Tombstone", policy.terms().tombstone(), "how long after that the key is remembered and refused"),
                named("Wait", policy.waitMax(), "how long a duplicate waits for the running request"),
                named("Held at most", policy.heldMax(), "then heartbeats stop"),
                named("Call at most", policy.callMax(), "no absence is believed earlier"));
    }

    private static List<Operations.Named> limits(Operation operation) {
        return List.of(
                new Operations.Named("Request body", operation.bodyBytesMax() + " bytes", null),
                new Operations.Named("Stored response", operation.policy().resultBytesMax() + " bytes", null));
    }

    private static Operations.Named named(String name, Duration duration, String explanation) {
        return new Operations.Named(name, text(duration), explanation);
    }

    /** Such as {@code 1 d 2 h}, in at most two units. */
    static String text(Duration duration) {
        long[] numbers = {
            duration.toDays(),
            duration.toHoursPart(),
            duration.toMinutesPart(),
            duration.toSecondsPart(),
            duration.toMillisPart()
        };
        String[] units = {"d", "h", "min", "s", "ms"};
        List<String> words = new ArrayList<>();
        for (int i = 0; i < numbers.length && words.size() < 2; i++) {
            if (numbers[i] != 0) {
                words.add(numbers[i] + " " + units[i]);
            }
        }
        return words.isEmpty() ? "none" : String.join(" ", words);
    }
}
