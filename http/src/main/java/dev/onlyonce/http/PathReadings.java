package dev.onlyonce.http;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The segments of a path in every way that a server may read it. Servers agree on plain paths, which have one reading. They
 * differ in these, and each difference that a path shows doubles its readings:
 *
 * <ul>
 *   <li>which of an encoded slash, a backslash and an encoded backslash are slashes;
 *   <li>whether what follows a semicolon belongs to the segment, and where it ends;
 *   <li>whether dot segments are resolved, encoded ones too, and before or after parameters are left out;
 *   <li>whether empty segments count;
 *   <li>whether {@code //x/} begins a path or names a host;
 *   <li>whether the path is decoded once or twice, and whether it ends at a NUL.
 * </ul>
 *
 * All of them decode, and ignore a slash at the end.
 */
final class PathReadings {
    /** Other spellings of a slash: for browsers and Node.js, nginx, IIS, and servers that decode first. */
    private static final List<Pattern> OTHER_SLASHES = Stream.of("\\\\", "%2f", "%5c|\\\\", "%2f|%5c|\\\\")
            .map(slash -> Pattern.compile(slash, Pattern.CASE_INSENSITIVE))
            .toList();

    private static final Pattern SEMICOLON = Pattern.compile("%3b", Pattern.CASE_INSENSITIVE);

    /** What servers differ in. */
    private static final Pattern ODD =
            Pattern.compile("//|/\\.|;|\\\\|%(?:2f|5c|3b|25|00|2e)", Pattern.CASE_INSENSITIVE);

    /** Reading 8 KiB of oddities in all these ways would take an event loop a tenth of a second. */
    private static final int ODD_MAX = 32;

    private static final int ODD_CHARS_MAX = 2048;

    private final Set<List<String>> readings = new LinkedHashSet<>();

    private PathReadings() {}

    /** Of a path as it was sent, the usual one first. */
    static List<List<String>> of(String path) {
        if (isPlain(path)) {
            return List.of(decoded(split(path, true)));
        }
        PathReadings all = new PathReadings();
        all.ended(path);
        if (path.contains("%25")) {
            all.ended(path.replace("%25", "%"));
            all.ended(PercentCoding.decode(path));
        }
        return List.copyOf(all.readings);
    }

    /** Whether it would take too long to find out what servers may take it for: then it may be anything. */
    static boolean isTooOdd(String path) {
        return !isPlain(path)
                && ODD.matcher(path).results().limit(ODD_MAX + 1L).count()
                        > (path.length() > ODD_CHARS_MAX ? 0 : ODD_MAX);
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

    private void ended(String path) {
        slashes(path);
        int nul = path.indexOf("%00");
        if (nul >= 0) {
            slashes(path.substring(0, nul));
        }
    }

    private void slashes(String path) {
        Set<String> spellings = new LinkedHashSet<>();
        spellings.add(path);
        OTHER_SLASHES.forEach(slash -> spellings.add(slash.matcher(path).replaceAll("/")));
        spellings.forEach(this::parameters);
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
            List<String> raw = split(path, dropEmpty);
            List<String> segments = decoded(raw);
            host(path, resolved(segments));
            host(path, segments);
            List<String> resolvedFirst = resolved(raw);
            host(path, decoded(resolvedFirst));
            host(path, decoded(without(resolvedFirst)));
        }
    }

    private static List<String> decoded(List<String> segments) {
        return segments.stream().map(PercentCoding::decode).toList();
    }

    private static List<String> without(List<String> segments) {
        return segments.stream().map(PathReadings::withoutParameters).toList();
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
                segments.add(path.substring(start, end));
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
