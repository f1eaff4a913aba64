package dev.onlyonce.testkit;

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
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * What the mutants prove of the contract holds for every store: each runs the same chapters, whole and in every build. The chapter of
 * random histories compares its short cuts with {@link dev.onlyonce.store.Life}.
 */
@DisplayName("The contract of stores")
class EveryStoreTest {
    private static final Path STORES = Path.of(System.getProperty("onlyonce.root"), "stores");
    private static final Set<String> STORES_TESTED = Set.of(
            "CassandraStoreTest",
            "DynamoDbStoreTest",
            "H2FileStoreTest",
            "MariaDbStoreTest",
            "MySqlStoreTest",
            "PostgresStoreTest",
            "RedisStoreTest",
            "SqliteStoreTest");

    private static final Pattern CONTRACT = Pattern.compile("class (\\w+) extends (StoreContract|H2StoreContract)\\b");

    @Test
    @DisplayName("E6 is run by every store in every build")
    void everyStore() throws IOException {
        Set<String> tests = new TreeSet<>();
        for (Path file : tests()) {
            String source = Files.readString(file);
            Matcher found = CONTRACT.matcher(source);
            if (found.find() && !source.contains("@Tag(\"thorough\")")) {
                tests.add(found.group(1));
            }
        }
        assertThat(tests).containsAll(STORES_TESTED);
        try (Stream<Path> modules = Files.list(STORES)) {
            assertThat(modules.map(module -> module.getFileName().toString()).toList())
                    .as("a new store is in the list")
                    .containsExactlyInAnyOrder("cassandra", "dynamodb", "redis", "sql");
        }
    }

    @Test
    @DisplayName("E6 has no test that a store replaces or leaves out")
    void whole() throws IOException {
        Set<String> chapters = new TreeSet<>();
        for (Class<?> chapter : StoreContract.class.getInterfaces()) {
            for (var method : chapter.getDeclaredMethods()) {
                if (method.isAnnotationPresent(Test.class)) {
                    chapters.add(method.getName());
                }
            }
        }
        assertThat(chapters).contains("followsTheRuleBook");
        Pattern replaced = Pattern.compile("@Override\\s+public void (" + String.join("|", chapters) + ")\\(");
        for (Path file : tests()) {
            assertThat(Files.readString(file)).as("%s", file).doesNotContainPattern(replaced);
        }
    }

    private static List<Path> tests() throws IOException {
        try (Stream<Path> files = Files.walk(STORES)) {
            return files.filter(file -> file.toString().endsWith(".java"))
                    .filter(file -> file.toString().contains("src/test/"))
                    .toList();
        }
    }
}
