package dev.onlyonce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.docs.Modules;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the sources of no module may contain. It reads the text, so it sees modules that are built after this one. */
@DisplayName("The sources of all modules")
class TidyTest {
    private static final String MAIN = "[^/]+/src/main/.*";
    private static final String ALL = "[^/]+/src/.*";
    private static final String NOWHERE = "-";

    /** A text that is banned in some files, except in others. */
    private record Ban(String why, Pattern text, Pattern where, Pattern except) {
        static Ban of(String why, String text, String where, String except) {
            return new Ban(why, Pattern.compile(text), Pattern.compile(where), Pattern.compile(except));
        }

        boolean hits(String file, String line) {
            return where.matcher(file).matches()
                    && !except.matcher(file).matches()
                    && text.matcher(line).find();
        }
    }

    private static final List<Ban> BANS = List.of(
            Ban.of(
                    "time comes from the one injected source",
                    "System\\.currentTimeMillis|\\b(Instant|(Local|Zoned|Offset)(Date)?(Time)?|Year)\\.now\\(|Clock\\.system",
                    MAIN,
                    "core/.*/store/SystemTime\\.java|client/.*/SystemClientTime\\.java|payments/.*"),
            Ban.of("java.time has what this lacks", "java\\.util\\.(Date|Calendar)\\b|\\bnew Date\\(", ALL, NOWHERE),
            Ban.of(
                    "nobody sleeps to let time pass",
                    "Thread\\.sleep|(TimeUnit\\.)?(NANO|MICRO|MILLI)?SECONDS\\.sleep\\(",
                    ALL,
                    NOWHERE),
            Ban.of(
                    "a library logs, it does not print",
                    "System\\.(out|err)\\b|printStackTrace\\(",
                    MAIN,
                    "(benchmarks|server|payments|prove)/.*"),
            Ban.of("a test that does not run shows nothing", "@Disabled\\b", ALL, NOWHERE),
            Ban.of(
                    "copies of one process make the same: draw tokens and nonces from Tokens, keys from FreshBytes",
                    "UUID\\.randomUUID|new SecureRandom\\(",
                    "(core|sql|redis|dynamodb|cassandra|client)/src/main/.*",
                    ".*/(Tokens|FreshBytes|JournalFiles)\\.java"),
            Ban.of(
                    "the internals are for the core alone",
                    "dev\\.onlyonce\\.internal\\b",
                    ALL,
                    "core/.*|.*/RingsTest\\.java"),
            Ban.of(
                    "the inner rooms of the SQL module are its own",
                    "dev\\.onlyonce\\.sql\\.internal\\b",
                    ALL,
                    "sql/.*|.*/RingsTest\\.java"),
            Ban.of(
                    "what is published does not lean on test servers",
                    "dev\\.onlyonce\\.testservers\\b",
                    MAIN,
                    "(testservers|benchmarks|prove)/.*"),
            Ban.of(
                    "a name says what a thing is",
                    "\\b(class|interface|record|enum) (Abstract\\w+|\\w*(Utils?|Helper|Manager|Impl))\\b",
                    MAIN,
                    NOWHERE));

    @Test
    @DisplayName("contain nothing that is banned")
    void bans() throws IOException {
        List<String> found = new ArrayList<>();
        Map<String, Path> sources = sources();
        for (Map.Entry<String, Path> source : sources.entrySet()) {
            String file = source.getKey();
            if (file.endsWith("/TidyTest.java")) {
                continue;
            }
            int number = 0;
            for (String line : Files.readAllLines(source.getValue())) {
                number++;
                for (Ban ban : bansOn(file, line)) {
                    found.add(file + ":" + number + ": " + ban.why() + ": " + line.strip());
                }
            }
        }
        assertThat(found).isEmpty();
        assertThat(sources.keySet()).as("sources of several modules").anyMatch(file -> file.startsWith("sql/"));
    }

    @Test
    @DisplayName("mark every package as free of nulls")
    void packages() throws IOException {
        for (Path source : sources().values()) {
            // An application below src/test is somebody else's, on purpose.
            if (source.toString().contains("/src/main/") && !source.toString().contains("/src/test/")) {
                Path info = source.resolveSibling("package-info.java");
                assertThat(info).content().contains("@NullMarked");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "long now = System.currentTimeMillis();",
                "Instant now = Instant.now();",
                "LocalDateTime.now(zone)",
                "Clock clock = Clock.systemUTC();",
                "Thread.sleep(10);",
                "TimeUnit.SECONDS.sleep(1);",
                "System.out.println(1);",
                "e.printStackTrace();",
                "import java.util.Date;",
                "@Disabled(\"flaky\")",
                "import dev.onlyonce.internal.GroupingStore;",
                "import dev.onlyonce.testservers.PostgresServer;",
                "import dev.onlyonce.sql.internal.entries.SqlDialect;",
                "import dev.onlyonce.sql.internal.connections.Connections;",
                "final class StringUtils {",
                "abstract class AbstractStore {"
            })
    @DisplayName("are searched for each of the banned texts")
    void planted(String line) {
        assertThat(bansOn("servlet/src/main/java/dev/onlyonce/servlet/Planted.java", line))
                .hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "long now = time.now();",
                "import dev.onlyonce.sql.schema.Schema;",
                "// as Instant.now() would",
                " * never Thread.sleep",
                "Update update;"
            })
    @DisplayName("may say other things, and anything in comments")
    void harmless(String line) {
        assertThat(bansOn("servlet/src/main/java/dev/onlyonce/servlet/Planted.java", line))
                .isEmpty();
    }

    private static List<Ban> bansOn(String file, String line) {
        String start = line.strip();
        if (start.startsWith("//") || start.startsWith("*") || start.startsWith("/*")) {
            return List.of();
        }
        return BANS.stream().filter(ban -> ban.hits(file, line)).toList();
    }

    /** The sources, by module and path in it. */
    private static Map<String, Path> sources() throws IOException {
        Map<String, Path> sources = new TreeMap<>();
        for (Map.Entry<String, Path> module : Modules.all().entrySet()) {
            for (Path file : Modules.sources(module.getValue(), "src")) {
                sources.put(module.getKey() + "/" + module.getValue().relativize(file), file);
            }
        }
        return sources;
    }
}
