package dev.onlyonce.server.config;

import dev.onlyonce.Policy;
import dev.onlyonce.http.Operation;
import dev.onlyonce.http.RequestAge;
import dev.onlyonce.store.EntryId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** One item of {@code operations}. */
final class OperationSection {
    /** A segment that has a brace or an asterisk, and something else too. */
    private static final Pattern PARTLY_OPEN = Pattern.compile("/(?!\\{[^/{}]*}(/|$)|\\*{1,2}(/|$))[^/]*[{}*]");

    /** RFC 9110, section 9.2.1. */
    private static final Set<String> SAFE = Set.of("GET", "HEAD", "OPTIONS", "TRACE");

    private final Section section;
    private final Defaults how;
    private final @Nullable LookUp lookUp;

    OperationSection(Section section, Defaults above) {
        this.section = section;
        this.how = new Defaults(above, section);
        this.lookUp = lookUp(section.section("look-up"), how.callMax());
    }

    @Nullable
    LookUp lookUp() {
        return lookUp;
    }

    /** One for each method. */
    List<Operation> operations() {
        String path = section.required("path", "/payments/{id}");
        List<String> methods = new ArrayList<>(section.texts("methods"));
        String one = section.text("method");
        if (one != null) {
            methods.add(one);
        }
        if (methods.isEmpty()) {
            section.wrong("\"method\" is missing; write for example method: POST");
        }
        String name = section.text("name");
        if (name != null && methods.size() > 1) {
            section.wrong("name", "an operation with a name has one method");
        }
        if (PARTLY_OPEN.matcher(path).find()) {
            section.wrong("path", "{name}, * and ** each stand for a whole segment; write for example /payments/{id}");
        }
        List<String> formerly = section.texts("formerly");
        List<Operation> operations = new ArrayList<>();
        for (String method : methods) {
            if (!Section.isToken(method)) {
                section.wrong("\"" + method + "\" is not a method; write for example method: POST");
            }
            if (SAFE.contains(method.toUpperCase(Locale.ROOT))) {
                section.wrong("requests with " + method.toUpperCase(Locale.ROOT)
                        + " change nothing, so their retries need no protection; remove the method");
            }
            Operation.Builder builder = how.apply(Operation.builder(method.toUpperCase(Locale.ROOT), path));
            if (name != null) {
                builder.name(name);
            }
            builder.formerly(formerly);
            try {
                operations.add(builder.requestAge(requestAge()).build());
            } catch (IllegalArgumentException e) {
                section.wrong(String.valueOf(e.getMessage()));
            }
        }
        return operations;
    }

    private @Nullable RequestAge requestAge() {
        Section age = section.section("request-age");
        if (age == null) {
            return null;
        }
        RequestAge rule = RequestAge.of(
                age.header("header", age.required("header", "Date")),
                age.duration("max", how.retention(), Duration.ofSeconds(1), Duration.ofDays(3660)));
        age.end();
        return rule;
    }

    private static @Nullable LookUp lookUp(@Nullable Section section, Duration callMax) {
        if (section == null) {
            return null;
        }
        String request = section.required("request", "GET /payments?key={key}");
        int space = request.indexOf(' ');
        if (space < 1 || space + 1 >= request.length() || request.charAt(space + 1) != '/') {
            section.wrong("request", "write a method and a path, for example GET /payments?key={key}");
            space = -1;
        }
        LookUp.Rule found = rule(section, "found");
        LookUp.Rule absent = rule(section, "absent");
        LookUp.Answer answer = answer(section.section("answer"));
        LookUp lookUp = new LookUp(
                space < 0 ? "GET" : request.substring(0, space).toUpperCase(Locale.ROOT),
                space < 0 ? "/" : request.substring(space + 1),
                section.map("headers"),
                found,
                absent,
                answer,
                section.duration("absent-after", callMax, callMax, Policy.HELD_MAX));
        section.end();
        check(section, lookUp);
        return lookUp;
    }

    private static void check(Section section, LookUp lookUp) {
        try {
            var unused = lookUp.request("http://127.0.0.1", new EntryId("tenant", "", "key"), "operation");
        } catch (IllegalArgumentException e) {
            section.wrong("this cannot be sent: " + e.getMessage());
        }
        LookUp.Rule found = lookUp.found();
        LookUp.Rule absent = lookUp.absent();
        if (found.status() == absent.status() && (found.pointer() == null || absent.pointer() == null)) {
            section.wrong("\"found\" and \"absent\" fit the same answer; give each a \"pointer\", or another status");
        }
    }

    private static LookUp.Rule rule(Section above, String key) {
        Section section = above.section(key);
        if (section == null) {
            above.wrong("\"" + key + "\" is missing; write for example " + key + ": {status: "
                    + (key.equals("found") ? 200 : 404) + "}");
            return new LookUp.Rule(0, null, true, null);
        }
        LookUp.Rule rule = new LookUp.Rule(
                section.number("status", key.equals("found") ? 200 : 404, 100, 599),
                pointer(section),
                !section.flag("missing", false),
                section.text("value"));
        if (!rule.present() && (rule.pointer() == null || rule.pointer().isEmpty())) {
            section.wrong("\"missing\" needs a \"pointer\" to what is missing; write for example pointer: /data/0");
        }
        section.end();
        return rule;
    }

    private static @Nullable String pointer(Section section) {
        return section.optional("pointer", text -> {
            if (!text.isEmpty() && !text.startsWith("/")) {
                throw new IllegalArgumentException(
                        "\"" + text + "\" is not a JSON pointer; write for example /data/0/id");
            }
            return text;
        });
    }

    private static LookUp.@Nullable Answer answer(@Nullable Section section) {
        if (section == null) {
            return null;
        }
        String pointer = pointer(section);
        LookUp.Answer answer =
                new LookUp.Answer(section.number("status", 200, 200, 599), pointer == null ? "" : pointer);
        section.end();
        return answer;
    }
}
