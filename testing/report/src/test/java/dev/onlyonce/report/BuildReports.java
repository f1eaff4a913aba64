package dev.onlyonce.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What the modules of this build left behind: the reports of their tests, and notes on the servers that they started. */
final class BuildReports {
    static final Path ROOT = Path.of(System.getProperty("onlyonce.root"));

    private static final Pattern MODULE = Pattern.compile("<module>([^<]+)</module>");
    private static final Pattern SUITE =
            Pattern.compile("<testsuite [^>]*?\\bname=\"([^\"]+)\"[^>]*? time=\"([\\d.,]+)\"");
    private static final Pattern CASE =
            Pattern.compile("<testcase name=\"([^\"]*)\"[^>]*?(/>|>(\\s*<skipped)?(\\s*<flaky)?)", Pattern.DOTALL);

    /**
     * The tests of one class.
     *
     * @param unstable those of the passed ones that failed at first
     */
    record Suite(String name, double seconds, List<String> passed, List<String> unstable, int skipped) {
        int count() {
            return passed.size() + skipped;
        }

        /** The name without its package. */
        String shortName() {
            return name.substring(name.lastIndexOf('.') + 1);
        }
    }

    /**
     * The tests of one module.
     *
     * @param seconds from the start of the first class to the end of the last
     */
    record Module(String path, List<Suite> suites, double seconds) {
        /** What it belongs to: the folder, but that the modules at the top and the examples have a name together. */
        String folder() {
            String folder = path.contains("/") ? path.substring(0, path.indexOf('/')) : "library";
            return folder.equals("examples") ? "programs" : folder;
        }

        int count() {
            return suites.stream().mapToInt(Suite::count).sum();
        }
    }

    private BuildReports() {}

    /** The paths of all modules, in the order of the build. */
    static List<String> paths() throws IOException {
        return MODULE.matcher(Files.readString(ROOT.resolve("pom.xml")))
                .results()
                .map(module -> module.group(1))
                .toList();
    }

    /** The modules that ran tests. */
    static List<Module> modules() throws IOException {
        List<Module> modules = new ArrayList<>();
        for (String path : paths()) {
            Path reports = ROOT.resolve(path).resolve("target/surefire-reports");
            List<Suite> suites = new ArrayList<>();
            double start = Double.MAX_VALUE;
            double end = 0;
            for (Path report : files(reports, ".xml")) {
                Suite suite = suite(Files.readString(report));
                double written = Files.getLastModifiedTime(report).toMillis() / 1000.0;
                suites.add(suite);
                start = Math.min(start, written - suite.seconds());
                end = Math.max(end, written);
            }
            if (!suites.isEmpty()) {
                modules.add(new Module(path, suites, end - start));
            }
        }
        return modules;
    }

    private static Suite suite(String report) {
        Matcher suite = SUITE.matcher(report);
        if (!suite.find()) {
            throw new IllegalStateException(
                    "No report of a test: " + report.substring(0, Math.min(200, report.length())));
        }
        List<String> passed = new ArrayList<>();
        List<String> unstable = new ArrayList<>();
        int skipped = 0;
        Matcher test = CASE.matcher(report);
        while (test.find()) {
            if (test.group(3) == null) {
                passed.add(test.group(1));
                if (test.group(4) != null) {
                    unstable.add(test.group(1));
                }
            } else {
                skipped++;
            }
        }
        return new Suite(
                suite.group(1), Double.parseDouble(suite.group(2).replace(",", "")), passed, unstable, skipped);
    }

    /** How often the tests started each kind of server. */
    static Map<String, Integer> servers() throws IOException {
        Map<String, Integer> servers = new TreeMap<>();
        for (String path : paths()) {
            for (Path kind : files(ROOT.resolve(path).resolve("target/servers"), "")) {
                servers.merge(
                        kind.getFileName().toString(), Files.readAllLines(kind).size(), Integer::sum);
            }
        }
        return servers;
    }

    private static List<Path> files(Path folder, String ending) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(ending))
                    .sorted()
                    .toList();
        }
    }
}
