package dev.onlyonce.spring.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;

@DisplayName("Hints for native images")
class NativeHintsTest {
    private static final Path ROOT = Path.of(System.getProperty("onlyonce.root"));
    private static final List<String> MODULES = List.of(
            "core",
            "http",
            "console",
            "stores/sql",
            "stores/redis",
            "stores/dynamodb",
            "stores/cassandra",
            "web/servlet",
            "web/micrometer",
            "web/webflux",
            "web/spring-boot-starter");
    /** What native-image knows by itself, and what Spring reads when it processes the application. */
    private static final Pattern KNOWN = Pattern.compile("META-INF/(services/.*|spring/.*|spring\\.factories)");

    private static final Pattern PROXY = Pattern.compile("\\b(?:proxy|guarded)\\(\\s*(\\w+)\\.class");
    private static final Pattern BY_NAME = Pattern.compile("Class\\.forName\\(\\s*\"([^\"]+)\"");

    private final RuntimeHints hints = new RuntimeHints();

    @BeforeEach
    void register() {
        new NativeHints().registerHints(hints, getClass().getClassLoader());
    }

    private static List<Path> files(String module, String folder) throws IOException {
        Path start = ROOT.resolve(module).resolve(folder);
        if (!Files.exists(start)) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(start)) {
            return files.filter(Files::isRegularFile).toList();
        }
    }

    @Test
    @DisplayName("name every resource of the modules that an application may have")
    void resources() throws Exception {
        int found = 0;
        for (String module : MODULES) {
            for (Path file : files(module, "src/main/resources")) {
                String name = ROOT.resolve(module)
                        .resolve("src/main/resources")
                        .relativize(file)
                        .toString();
                if (!KNOWN.matcher(name).matches()) {
                    assertThat(RuntimeHintsPredicates.resource()
                                    .forResource(name)
                                    .test(hints))
                            .as(name)
                            .isTrue();
                    found++;
                }
            }
        }
        assertThat(found).isGreaterThan(10);
    }

    @Test
    @DisplayName("name what is looked up or made by reflection, which stands in these classes alone")
    void reflection() throws Exception {
        Set<String> proxies = new TreeSet<>();
        Set<String> proxied = new TreeSet<>();
        Set<String> names = new TreeSet<>();
        for (String module : MODULES) {
            for (Path file : files(module, "src/main/java")) {
                String source = Files.readString(file);
                if (source.contains("Proxy.newProxyInstance")) {
                    proxies.add(file.getFileName().toString());
                    Matcher type = PROXY.matcher(source);
                    while (type.find()) {
                        proxied.add(type.group(1));
                    }
                }
                Matcher name = BY_NAME.matcher(source);
                while (name.find()) {
                    names.add(name.group(1));
                }
            }
        }
        // Boot3Health is for Spring Boot 3.5, and its proxy's interface differs: applications of it are not made
        // native.
        assertThat(proxies)
                .containsExactlyInAnyOrder(
                        "Boot3Health.java", "Channels.java", "GuardedConnection.java", "PreparedOnce.java");
        assertThat(names).containsExactlyElementsOf(NativeHints.BY_NAME);
        assertThat(NativeHints.PROXIES.stream().map(Class::getSimpleName)).containsExactlyInAnyOrderElementsOf(proxied);
        NativeHints.PROXIES.forEach(type -> assertThat(
                        RuntimeHintsPredicates.proxies().forInterfaces(type).test(hints))
                .as(type.getName())
                .isTrue());
        assertThat(hints.proxies()
                        .jdkProxyHints()
                        .map(hint -> hint.getProxiedInterfaces().toString()))
                .anyMatch(interfaces -> interfaces.contains(NativeHints.LETTUCE));
        assertThat(hints.reflection().typeHints().map(hint -> hint.getType().getName()))
                .contains("org.postgresql.PGConnection");
        assertThat(Class.forName(NativeHints.LETTUCE)).isInterface();
    }
}
