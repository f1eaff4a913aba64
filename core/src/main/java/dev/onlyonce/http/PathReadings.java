package dev.onlyonce.http;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The segments of a path in every way that a server may read it. Servers agree on plain paths, which have one reading. They
 * differ in these, and each difference that a path shows doubles its readings:
 *
 * <ul>
 *   <li>whether an encoded slash or a backslash is a slash;
 *   <li>whether what follows a semicolon belongs to the segment, and where it ends;
 *   <li>whether dot segments are resolved;
 *   <li>whether empty segments count;
 *   <li>whether {@code //x/} begins a path or names a host;
 *   <li>whether the path is decoded once or twice, and whether it ends at a NUL.
 * </ul>
 *
 * All of them decode, and ignore a slash at the end.
 */
final class PathReadings {
    private static final Pattern OTHER_SLASH = Pattern.compile("%2f|%5c|\\\\", Pattern.CASE_INSENSITIVE);
    private static final Pattern SEMICOLON = Pattern.compile("%3b", Pattern.CASE_INSENSITIVE);

    private final Set<List<String>> readings = new LinkedHashSet<>();

    private PathReadings() {}

    /** Of a path as it was sent, the usual one first. */
    static List<List<String>> of(String path) {
        if (isPlain(path)) {
            return List.of(split(path, true));
        }
        PathReadings all = new PathReadings();
        all.decoded(path);
        int nul = path.indexOf("%00");
        if (nul >= 0) {
            all.decoded(path.substring(0, nul));
        }
        return List.copyOf(all.readings);
    }

    /** Almost all are. */
    private static boolean isPlain(String path) {
        char before = 0;
        for (int i = 0; i < path.length(); i++) {
            char c = path.charAt(i);
            if (c == '%' || c == ';' || c == '\\' || (before == '/' && (c == '/' || c == '.'))) {
                return false;
            }
            before = c;
        }
        return true;
    }

    private void decoded(String path) {
        slashes(path);
        if (path.contains("%25")) {
            slashes(path.replace("%25", "%"));
        }
    }

    private void slashes(String path) {
        parameters(path);
        if (OTHER_SLASH.matcher(path).find()) {
            parameters(OTHER_SLASH.matcher(path).replaceAll("/"));
        }
    }

    private void parameters(String path) {
        String raw = SEMICOLON.matcher(path).replaceAll(";");
        int semicolon = raw.indexOf(';');
        segments(withoutParameters(path));
        if (semicolon >= 0) {
            segments(path);
            segments(withoutParameters(raw));
            segments(raw.substring(0, semicolon));
        }
    }

    private static String withoutParameters(String path) {
        return path.indexOf(';') < 0 ? path : path.replaceAll(";[^/]*", "");
    }

    private void segments(String path) {
        for (boolean dropEmpty : new boolean[] {true, false}) {
            List<String> segments = split(path, dropEmpty);
            host(path, resolved(segments));
            host(path, segments);
        }
    }

    private void host(String path, List<String> segments) {
        readings.add(segments);
        if (path.startsWith("//") && !segments.isEmpty()) {
            int first = segments.get(0).isEmpty() && segments.size() > 1 ? 2 : 1;
            readings.add(segments.subList(first, segments.size()));
        }
    }

    private static List<String> split(String path, boolean dropEmpty) {
        List<String> segments = new ArrayList<>();
        int start = path.startsWith("/") ? 1 : 0;
        while (start < path.length()) {
            int slash = path.indexOf('/', start);
            int end = slash < 0 ? path.length() : slash;
            if (end > start || !dropEmpty) {
                segments.add(PercentCoding.decode(path.substring(start, end)));
            }
            start = end + 1;
        }
        return segments;
    }

    private static List<String> resolved(List<String> segments) {
        if (!segments.contains(".") && !segments.contains("..")) {
            return segments;
        }
        List<String> resolved = new ArrayList<>();
        for (String segment : segments) {
            if (segment.equals("..")) {
                if (!resolved.isEmpty()) {
                    resolved.remove(resolved.size() - 1);
                }
            } else if (!segment.equals(".")) {
                resolved.add(segment);
            }
        }
        return resolved;
    }
}
