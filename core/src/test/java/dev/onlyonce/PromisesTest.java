package dev.onlyonce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.docs.Modules;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * {@code docs/reference/promises.md} lists every promise with tests that carry its id at the start of their display names: those
 * that carry the fewest others, two at most. To bring the list up to date, run this test with {@code -Dpromises.write=true}.
 */
class PromisesTest {
    private static final Path ROOT = Modules.ROOT;
    private static final Path LIST = ROOT.resolve("docs/reference/promises.md");
    private static final String NONE = "not yet";
    private static final int SHOWN_MAX = 2;
    private static final Pattern ROW = Pattern.compile("^\\| ([KCFRDWTSNEXO]\\d+) \\| (.*?) \\| (.*?) \\|$");
    private static final Pattern NAME = Pattern.compile("@DisplayName\\(\\s*\"((?:[KCFRDWTSNEXO]\\d+[ ,/]+)+)");
    private static final Pattern ID = Pattern.compile("[KCFRDWTSNEXO]\\d+");

    @Test
    @DisplayName("every test that the list of promises names carries the promise's id")
    void listIsTrue() throws IOException {
        Map<String, Set<String>> tests = tests();
        if (Boolean.getBoolean("promises.write")) {
            write(tests);
        }
        Map<String, Set<String>> listed = new TreeMap<>();
        for (String line : Files.readAllLines(LIST)) {
            Matcher row = ROW.matcher(line);
            if (row.matches()) {
                listed.put(row.group(1), named(row.group(3)));
            }
        }
        assertThat(listed.keySet()).as("promises that tests carry").containsAll(tests.keySet());
        listed.forEach((id, named) -> assertThat(tests.getOrDefault(id, Set.of()))
                .as("tests that carry " + id)
                .containsAll(named));
    }

    private static Set<String> named(String cell) {
        return cell.equals(NONE) ? Set.of() : Set.of(cell.split(", "));
    }

    private static void write(Map<String, Set<String>> tests) throws IOException {
        StringBuilder list = new StringBuilder();
        for (String line : Files.readAllLines(LIST)) {
            Matcher row = ROW.matcher(line);
            if (row.matches()) {
                Set<String> found = tests.getOrDefault(row.group(1), Set.of());
                String shown = found.isEmpty() ? NONE : String.join(", ", fewest(found, tests));
                list.append("| %s | %s | %s |".formatted(row.group(1), row.group(2), shown));
            } else {
                list.append(line);
            }
            list.append('\n');
        }
        Files.writeString(LIST, list);
    }

    /** The tests that are about little else. */
    private static Set<String> fewest(Set<String> found, Map<String, Set<String>> tests) {
        return found.stream()
                .sorted(Comparator.comparingLong((String test) -> tests.values().stream()
                                .filter(carrying -> carrying.contains(test))
                                .count())
                        .thenComparing(Comparator.naturalOrder()))
                .limit(SHOWN_MAX)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Map<String, Set<String>> tests() throws IOException {
        Map<String, Set<String>> tests = new TreeMap<>();
        try (Stream<Path> files = Files.walk(ROOT)) {
            for (Path file : files.filter(PromisesTest::isTest).sorted().toList()) {
                Matcher name = NAME.matcher(Files.readString(file));
                while (name.find()) {
                    Matcher id = ID.matcher(name.group(1));
                    while (id.find()) {
                        String test = file.getFileName().toString().replace(".java", "");
                        tests.computeIfAbsent(id.group(), x -> new TreeSet<>()).add("`" + test + "`");
                    }
                }
            }
        }
        return tests;
    }

    private static boolean isTest(Path file) {
        String path = ROOT.relativize(file).toString();
        return path.endsWith(".java") && (path.contains("src/test/") || path.startsWith("testkit/src/main/"));
    }
}
