package dev.onlyonce.http;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which paths belong to an operation: {@code /payments/{id}/capture}. A segment in braces, or {@code *}, takes any one segment;
 * {@code **} at the end takes any number of them.
 *
 * <p>Paths are compared in the most generous reading that a server may give them: decoded, without path parameters, empty
 * and dot segments. Otherwise {@code /payments/} or {@code /%70ayments} would reach the handler unprotected.
 */
final class PathTemplate {
    private static final Pattern OTHER_SLASH = Pattern.compile("%2f|%5c|\\\\", Pattern.CASE_INSENSITIVE);

    private final String template;
    private final List<String> segments;
    private final boolean open;

    PathTemplate(String template) {
        if (!template.startsWith("/")) {
            throw new IllegalArgumentException("a path template must begin with a slash: " + template);
        }
        this.template = template;
        List<String> all = new ArrayList<>(segments(template));
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
            if (!any && !segment.equals(path.get(i))) {
                return false;
            }
        }
        return true;
    }

    @Override
    public String toString() {
        return template;
    }

    /** The segments of a path in all ways that a server may read it: some take an encoded slash, or a backslash, for a slash. */
    static List<List<String>> readings(String path) {
        List<String> usual = segments(path);
        Matcher slash = OTHER_SLASH.matcher(path);
        return slash.find() ? List.of(usual, segments(slash.replaceAll("/"))) : List.of(usual);
    }

    private static List<String> segments(String path) {
        List<String> segments = new ArrayList<>();
        for (String raw : path.split("/", -1)) {
            int parameters = raw.indexOf(';');
            String segment = PercentCoding.decode(parameters < 0 ? raw : raw.substring(0, parameters));
            if (segment.equals("..")) {
                if (!segments.isEmpty()) {
                    segments.remove(segments.size() - 1);
                }
            } else if (!segment.isEmpty() && !segment.equals(".")) {
                segments.add(segment);
            }
        }
        return segments;
    }
}
