package dev.onlyonce.http;

import java.util.ArrayList;
import java.util.List;

/**
 * Which paths belong to an operation: {@code /payments/{id}/capture}. A segment in braces, or {@code *}, takes any one segment;
 * {@code **} at the end takes any number of them.
 *
 * <p>It is compared with each of a path's {@link PathReadings readings}. Otherwise {@code /payments/} or {@code /%70ayments}
 * would reach the handler unprotected. Upper and lower case are the same, because some frameworks route so.
 */
final class PathTemplate {
    private final String template;
    private final List<String> segments;
    private final boolean open;

    PathTemplate(String template) {
        if (!template.startsWith("/")) {
            throw new IllegalArgumentException("a path template must begin with a slash: " + template);
        }
        this.template = template;
        List<String> all = new ArrayList<>(PathReadings.of(template).get(0));
        open = !all.isEmpty() && all.get(all.size() - 1).equals("**");
        if (open) {
            all.remove(all.size() - 1);
        }
        if (all.contains("**")) {
            throw new IllegalArgumentException("** can only be the last segment: " + template);
        }
        segments = all;
    }

    /** Throws {@link IllegalArgumentException} unless this is a template. */
    static void check(String template) {
        PathTemplate unused = new PathTemplate(template);
    }

    boolean matches(List<String> path) {
        if (open ? path.size() < segments.size() : path.size() != segments.size()) {
            return false;
        }
        for (int i = 0; i < segments.size(); i++) {
            String segment = segments.get(i);
            boolean any = segment.equals("*") || (segment.startsWith("{") && segment.endsWith("}"));
            if (!any && !segment.equalsIgnoreCase(path.get(i))) {
                return false;
            }
        }
        return true;
    }

    @Override
    public String toString() {
        return template;
    }
}
