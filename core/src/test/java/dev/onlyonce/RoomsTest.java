package dev.onlyonce;

import static java.util.stream.Collectors.toCollection;
import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.docs.Modules;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * Who may use whom, for the packages of all modules. It reads the sources, so it sees modules that are built after this one;
 * {@link RingsTest} checks the core's classes in detail.
 */
@DisplayName("The rooms")
class RoomsTest {
    /** The modules that each module may use. Test servers are for tests and benchmarks; nothing published uses them. */
    private static final Map<String, Set<String>> MAY_USE = Map.ofEntries(
            Map.entry("core", Set.of()),
            Map.entry("client", Set.of()),
            Map.entry("client-interceptors", Set.of("client")),
            Map.entry("http", Set.of("core")),
            Map.entry("faults", Set.of()),
            Map.entry("testservers", Set.of("dynamodb-local", "faults")),
            Map.entry("check", Set.of()),
            Map.entry("prove", Set.of("core", "server", "sql", "testservers")),
            Map.entry("testkit", Set.of("check", "core")),
            Map.entry("sql", Set.of("core")),
            Map.entry("redis", Set.of("core")),
            Map.entry("amqp", Set.of("core", "sql")),
            Map.entry("kafka", Set.of("core", "sql")),
            Map.entry("sqs", Set.of("core", "sql")),
            Map.entry("dynamodb", Set.of("core")),
            Map.entry("dynamodb-local", Set.of()),
            Map.entry("cassandra", Set.of("core")),
            Map.entry("servlet", Set.of("core", "http")),
            Map.entry("webflux", Set.of("core", "http")),
            Map.entry("jaxrs", Set.of("core", "http")),
            Map.entry("micrometer", Set.of("client", "core")),
            Map.entry("spring-boot-starter", Set.of("core", "http", "micrometer", "servlet", "sql", "webflux")),
            Map.entry("spring-boot-test", Set.of("core", "spring-boot-starter", "testkit")),
            Map.entry("server", Set.of("check", "client", "core", "dynamodb", "http", "micrometer", "redis", "sql")),
            Map.entry(
                    "payments",
                    Set.of(
                            "client",
                            "core",
                            "faults",
                            "http",
                            "kafka",
                            "micrometer",
                            "servlet",
                            "spring-boot-starter",
                            "sql")),
            Map.entry(
                    "benchmarks",
                    Set.of(
                            "cassandra",
                            "core",
                            "http",
                            "kafka",
                            "micrometer",
                            "redis",
                            "servlet",
                            "spring-boot-starter",
                            "sql",
                            "testservers")));

    /**
     * Public types that share a simple name although they mean different things. This list only gets shorter. {@code Idempotent}
     * means the same in Spring and in JAX-RS, which no class uses together.
     */
    private static final Set<String> SHARED_NAMES = Set.of("Database", "Fault", "Idempotent", "Transactions");

    private static final Pattern PACKAGE = Pattern.compile("^package ([\\w.]+);", Pattern.MULTILINE);
    private static final Pattern USE = Pattern.compile("\\b(dev\\.onlyonce(?:\\.[a-z]\\w*)*)\\.[A-Z]");
    private static final Pattern COMMENT = Pattern.compile("/\\*.*?\\*/|//[^\\n]*", Pattern.DOTALL);
    private static final Pattern PUBLIC = Pattern.compile(
            "^public (?:(?:abstract|final|sealed|non-sealed) )*(?:class|interface|enum|record|@interface) (\\w+)",
            Pattern.MULTILINE);

    /** One source file. */
    record Source(String module, String room, Set<String> uses, Set<String> publicTypes) {
        static Source of(String module, String text) {
            String code = COMMENT.matcher(text).replaceAll("");
            Matcher room = PACKAGE.matcher(code);
            String name = room.find() ? room.group(1) : "";
            Set<String> uses = all(USE, code);
            uses.remove(name);
            return new Source(module, name, uses, all(PUBLIC, code));
        }

        private static Set<String> all(Pattern pattern, String code) {
            return pattern.matcher(code).results().map(found -> found.group(1)).collect(toCollection(TreeSet::new));
        }
    }

    @Test
    @DisplayName("of a module use only the modules that it may use")
    void modules() throws IOException {
        List<Source> sources = sources();
        assertThat(MAY_USE.keySet())
                .containsAll(sources.stream().map(Source::module).toList());
        assertThat(strangers(sources)).isEmpty();
    }

    @Test
    @DisplayName("called internal are used by nobody outside their module")
    void internals() throws IOException {
        assertThat(intruders(sources())).isEmpty();
    }

    @Test
    @DisplayName("of a module do not use one another in a circle")
    void circles() throws IOException {
        assertThat(circles(sources())).isEmpty();
    }

    @Test
    @DisplayName("belong to one module each, and no two public types share a name")
    void names() throws IOException {
        List<Source> sources = sources();
        assertThat(sharedNames(sources)).isSubsetOf(SHARED_NAMES);
        Map<String, Set<String>> modules = new TreeMap<>();
        sources.forEach(source ->
                modules.computeIfAbsent(source.room(), room -> new TreeSet<>()).add(source.module()));
        assertThat(modules).allSatisfy((room, in) -> assertThat(in).as(room).hasSize(1));
    }

    @Test
    @DisplayName("are searched for each of these faults")
    void planted() {
        Source core = Source.of("core", "package dev.onlyonce.internal;\npublic final class Queue {}");
        Source sql = Source.of("sql", "package dev.onlyonce.sql;\nimport dev.onlyonce.internal.Queue;\n");
        Source back = Source.of("core", "package dev.onlyonce;\nimport dev.onlyonce.sql.SqlStore;\n");
        Source one = Source.of("http", "package dev.onlyonce.a;\nimport dev.onlyonce.b.B;\npublic record Queue() {}");
        Source other =
                Source.of("http", "package dev.onlyonce.b;\nimport dev.onlyonce.a.Queue;\n// dev.onlyonce.sql.No");
        List<Source> sources = List.of(core, sql, back, one, other);
        assertThat(strangers(sources)).containsExactly("core uses sql in dev.onlyonce");
        assertThat(intruders(sources)).containsExactly("sql uses dev.onlyonce.internal");
        assertThat(circles(sources)).containsExactly("http");
        assertThat(sharedNames(sources)).containsExactly("Queue");
    }

    private static Map<String, String> owners(List<Source> sources) {
        return sources.stream().collect(toMap(Source::room, Source::module, (one, other) -> one));
    }

    private static List<String> strangers(List<Source> sources) {
        Map<String, String> owners = owners(sources);
        Set<String> found = new TreeSet<>();
        for (Source source : sources) {
            for (String used : source.uses()) {
                String module = owners.getOrDefault(used, source.module());
                if (!module.equals(source.module())
                        && !MAY_USE.getOrDefault(source.module(), Set.of()).contains(module)) {
                    found.add(source.module() + " uses " + module + " in " + source.room());
                }
            }
        }
        return List.copyOf(found);
    }

    private static List<String> intruders(List<Source> sources) {
        Map<String, String> owners = owners(sources);
        Set<String> found = new TreeSet<>();
        for (Source source : sources) {
            for (String used : source.uses()) {
                if (used.contains(".internal") && !source.module().equals(owners.get(used))) {
                    found.add(source.module() + " uses " + used);
                }
            }
        }
        return List.copyOf(found);
    }

    /** The modules with packages that remain when packages without uses are removed, again and again. */
    private static Set<String> circles(List<Source> sources) {
        Map<String, String> owners = owners(sources);
        Map<String, Set<String>> uses = new TreeMap<>();
        for (Source source : sources) {
            Set<String> own = uses.computeIfAbsent(source.room(), room -> new HashSet<>());
            source.uses().stream()
                    .filter(used -> source.module().equals(owners.get(used)))
                    .forEach(own::add);
        }
        while (uses.values().removeIf(used -> used.stream().noneMatch(uses::containsKey))) {
            // Removing a package may free others.
        }
        return uses.keySet().stream().map(owners::get).collect(toCollection(TreeSet::new));
    }

    private static Set<String> sharedNames(List<Source> sources) {
        Set<String> seen = new HashSet<>();
        Set<String> shared = new TreeSet<>();
        for (Source source : sources) {
            for (String type : source.publicTypes()) {
                // Every program has a Main.
                if (!seen.add(type) && !type.equals("Main")) {
                    shared.add(type);
                }
            }
        }
        return shared;
    }

    private static List<Source> sources() throws IOException {
        List<Source> sources = new ArrayList<>();
        for (Map.Entry<String, Path> module : Modules.all().entrySet()) {
            for (Path file : Modules.sources(module.getValue(), "src/main/java")) {
                sources.add(Source.of(module.getKey(), Files.readString(file)));
            }
        }
        return sources;
    }
}
