package dev.onlyonce.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The last module of a build: every module has run by now. */
@DisplayName("This build")
class ReportTest {
    private static final Pattern ROW = Pattern.compile("^\\| ([A-Z]\\d+) \\| .* \\| (.*?) \\|$");
    private static final Pattern IDS = Pattern.compile("^((?:[A-Z]\\d+[ ,/]+)+)");
    private static final Pattern VERSION = Pattern.compile("<([a-z-]+?)(?:-binaries)?\\.version>([^<]+)<");

    @Test
    @DisplayName("ran a test for every promise of docs/reference/promises.md")
    void promises() throws IOException {
        Set<String> proven = new TreeSet<>();
        for (BuildReports.Module module : BuildReports.modules()) {
            for (BuildReports.Suite suite : module.suites()) {
                suite.passed().forEach(name -> proven.addAll(ids(name)));
            }
        }
        Set<String> promised = new TreeSet<>();
        for (String line : Files.readAllLines(BuildReports.ROOT.resolve("docs/reference/promises.md"))) {
            Matcher row = ROW.matcher(line);
            if (row.matches() && !row.group(2).equals("not yet")) {
                promised.add(row.group(1));
            }
        }
        assertThat(promised).hasSizeGreaterThan(80);
        assertThat(proven).containsAll(promised);
    }

    /** The promises that a test names at the start of its name. */
    private static Set<String> ids(String name) {
        Matcher ids = IDS.matcher(name);
        return ids.find() ? Set.of(ids.group(1).strip().split("[ ,/]+")) : Set.of();
    }

    @Test
    @DisplayName("ran the tests of every other module before this one")
    void last() throws IOException {
        Set<String> ran = new TreeSet<>();
        BuildReports.modules().forEach(module -> ran.add(module.path()));
        for (String path : BuildReports.paths()) {
            if (Files.isDirectory(BuildReports.ROOT.resolve(path).resolve("src/test/java"))
                    && !path.endsWith("/report")) {
                assertThat(ran).as("a module that the pom of report must name").contains(path);
            }
        }
    }

    @Test
    @DisplayName("says what it tested, against which servers, and where the time went")
    void report() throws IOException {
        List<BuildReports.Module> modules = BuildReports.modules();
        Map<String, List<BuildReports.Module>> folders = modules.stream()
                .collect(Collectors.groupingBy(BuildReports.Module::folder, LinkedHashMap::new, Collectors.toList()));
        int tests = modules.stream().mapToInt(BuildReports.Module::count).sum();
        int skipped = modules.stream()
                .flatMap(module -> module.suites().stream())
                .mapToInt(BuildReports.Suite::skipped)
                .sum();
        String time = ProcessorTime.ofMaven().map(ReportTest::told).orElse("");
        StringBuilder text = new StringBuilder();
        text.append("\nThis build ran %,d tests in %d modules (%d skipped), several at a time%s:\n"
                .formatted(tests, modules.size(), skipped, time));
        folders.forEach((folder, in) -> text.append("  %-9s %s\n"
                .formatted(
                        folder,
                        in.stream()
                                .map(module ->
                                        "%s %,d in %.0f s".formatted(name(module), module.count(), module.seconds()))
                                .collect(Collectors.joining(" · ")))));
        text.append("  longest   %s\n"
                .formatted(modules.stream()
                        .flatMap(module -> module.suites().stream())
                        .sorted(Comparator.comparingDouble(BuildReports.Suite::seconds)
                                .reversed())
                        .limit(6)
                        .map(suite -> "%s %.0f s".formatted(suite.shortName(), suite.seconds()))
                        .collect(Collectors.joining(" · "))));
        text.append("  servers   %s\n".formatted(servers()));
        modules.stream()
                .flatMap(module -> module.suites().stream())
                .forEach(suite -> suite.unstable()
                        .forEach(name -> text.append("  UNSTABLE  %s: \"%s\" failed at first; repair it\n"
                                .formatted(suite.shortName(), name))));
        System.out.println(text);
        assertThat(folders).containsKeys("library", "stores", "web", "programs");
    }

    private static String told(ProcessorTime time) {
        return "; processor time %d:%02d min in Maven, which compiles, and %d:%02d in tests and their servers"
                .formatted(
                        time.own().toMinutes(),
                        time.own().toSecondsPart(),
                        time.children().toMinutes(),
                        time.children().toSecondsPart());
    }

    private static String name(BuildReports.Module module) {
        return module.path().substring(module.path().lastIndexOf('/') + 1);
    }

    private static String servers() throws IOException {
        StringBuilder poms = new StringBuilder(Files.readString(BuildReports.ROOT.resolve("pom.xml")));
        for (String path : BuildReports.paths()) {
            if (path.endsWith("-node") || path.endsWith("-local")) {
                poms.append(Files.readString(BuildReports.ROOT.resolve(path).resolve("pom.xml")));
            }
        }
        Map<String, String> versions = VERSION.matcher(poms)
                .results()
                .collect(Collectors.toMap(
                        version -> version.group(1), version -> " " + version.group(2), (one, other) -> other));
        return BuildReports.servers().entrySet().stream()
                .map(server -> server.getKey()
                        + versions.getOrDefault(property(server.getKey()), "")
                        + " ×"
                        + server.getValue())
                .collect(Collectors.joining(" · "));
    }

    private static String property(String server) {
        return switch (server) {
            case "PostgreSQL" -> "postgres";
            // The versions of these artifacts are not those of the servers in them.
            case "MySQL", "Redis" -> "";
            default -> server.toLowerCase(Locale.ROOT).replace(' ', '-');
        };
    }
}
