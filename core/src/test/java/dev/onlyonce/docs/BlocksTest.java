package dev.onlyonce.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * Finds every block of code on the pages that readers paste from, and says how it is checked:
 *
 * <ul>
 *   <li>Java stands in a source that the build compiles, or a test of the page compiles it as it is.
 *   <li>A dependency names an artifact of the BOM and the version of the project.
 *   <li>Properties are those of {@code configuration.md}, which another test compares with the code.
 *   <li>Commands have the options of {@code cli.md}, which another test compares with the program; Maven's name modules and
 *       tests that exist; others, and other languages, are run by a test of the page.
 * </ul>
 */
@DisplayName("Blocks of code in the README and the guides")
class BlocksTest {
    private static final Pattern BLOCK = Pattern.compile("(?ms)^```(\\w*)\n(.*?)^```$");
    private static final Pattern ARTIFACT = Pattern.compile("<artifactId>([^<]+)</artifactId>\\s*<version>([^<]+)<");
    private static final Pattern OPTION = Pattern.compile("(?<=\\s)--?[A-Za-z][a-z-]*");
    private static final Pattern COMMAND = Pattern.compile("(?:\\./)?onlyonce ((?:[a-z]+(?= |$) ?)+)");

    /** Tests that take blocks from a page, and compile or run them. */
    private static final Map<String, List<String>> RUN = Map.ofEntries(
            Map.entry("README.md", List.of("sql/ReadmeTest", "consumer/ReadmeSampleTest")),
            Map.entry("docs/start.md", List.of("server/StartPageTest")),
            Map.entry("docs/guides/client.md", List.of("client/GuideTest", "client/InterceptorsGuideTest")),
            Map.entry("docs/guides/other-languages.md", List.of("server/OtherLanguagesTest")),
            Map.entry("docs/guides/payments-demo.md", List.of("payments/DemoGuideTest")),
            Map.entry("docs/guides/plain-java.md", List.of("guide/ProgramsTest", "consumer/ReadmeSampleTest")),
            Map.entry("docs/guides/reconciler.md", List.of("guide/ProgramsTest")),
            Map.entry("docs/guides/shared-cache.md", List.of("server/SharedCacheTest")),
            Map.entry("docs/guides/spring-boot.md", List.of("spring/GuideTest", "consumer/ReadmeSampleTest")),
            Map.entry("docs/guides/webflux.md", List.of("spring/GuideTest")),
            Map.entry("docs/guides/writing-a-store.md", List.of("testkit/GuideStore")));

    /** Blocks that are checked in another way, by their first words. This list only gets shorter. */
    private static final Map<String, String> EXCEPTIONS = Map.of(
            "FAIL  replay", "output: CheckGuideTest compares it",
            "FAIL  marked", "output: CheckGuideTest compares it",
            "replay: the first answer", "output: CheckGuideTest compares it",
            "the client gets an error", "output: ProgramsTest compares it",
            "curl -i -X POST localhost:8080/orders", "GuideTest sends these requests to the program above",
            "curl -si http://127.0.0.1:8080/payments", "ends the demo: CallerDiesTest pays with this card");

    private static final int EXCEPTIONS_MAX = 6;

    private record Block(String page, String language, String text) {
        boolean isCommand() {
            return language.equals("sh") || text.matches("(?s)(\\./)?(onlyonce|mvn) .*");
        }
    }

    private static List<Block> blocks() throws IOException {
        List<Block> blocks = new ArrayList<>();
        for (Path page : Pages.all()) {
            String name = Pages.name(page);
            if (name.matches("README\\.md|docs/start\\.md|docs/guides/.*")) {
                Matcher block = BLOCK.matcher(Files.readString(page));
                while (block.find()) {
                    blocks.add(new Block(name, block.group(1), block.group(2)));
                }
            }
        }
        return blocks;
    }

    @Test
    @DisplayName("are compiled, run or compared with what they name")
    void checked() throws IOException {
        Sources sources = Sources.read();
        List<String> unchecked = new ArrayList<>();
        Set<String> used = new TreeSet<>();
        for (Block block : blocks()) {
            if (!isChecked(block, sources) && EXCEPTIONS.keySet().stream().noneMatch(block.text()::startsWith)) {
                unchecked.add(
                        block.page() + ": " + block.text().lines().findFirst().orElse(""));
            }
            EXCEPTIONS.keySet().stream()
                    .filter(words -> block.text().startsWith(words))
                    .forEach(used::add);
        }
        assertThat(unchecked).as("blocks that no test checks").isEmpty();
        assertThat(used)
                .as("exceptions that are still needed")
                .containsExactlyInAnyOrderElementsOf(EXCEPTIONS.keySet());
        assertThat(EXCEPTIONS).hasSizeLessThanOrEqualTo(EXCEPTIONS_MAX);
    }

    @Test
    @DisplayName("that nobody checks would be found")
    void plantedFaults() throws IOException {
        Sources sources = Sources.read();
        String page = "docs/guides/steps.md";
        assertThat(List.of(
                        new Block(page, "java", "NoSuchType nobody = compiles(this);\n"),
                        new Block(page, "xml", "<artifactId>onlyonce-none</artifactId>\n<version>1</version>\n"),
                        new Block(page, "properties", "onlyonce.no-such-setting=1\n"),
                        new Block(page, "properties", "onlyonce.operations.[a].no-such-setting=1\n"),
                        new Block(page, "sh", "./onlyonce send --no-such-option 1\n"),
                        new Block(page, "sh", "./onlyonce nonsense\n"),
                        new Block(page, "", "mvn -pl no/module test -Dtest=BlocksTest\n"),
                        new Block(page, "", "mvn -pl core test -Dtest=NoSuchTest\n"),
                        new Block(page, "sh", "curl http://127.0.0.1\n"),
                        new Block(page, "yaml", "a: b\n"),
                        new Block(page, "", "output\n")))
                .allSatisfy(block -> assertThat(isChecked(block, sources)).isFalse());
        assertThat(isChecked(new Block(page, "properties", "onlyonce.lease=10s\n"), sources))
                .isTrue();
    }

    private static boolean isChecked(Block block, Sources sources) throws IOException {
        return switch (block.language()) {
            case "java" -> sources.compile(block.text()) || (isWhole(block) && isRun(block, sources));
            case "xml" -> block.text().startsWith("<project ") ? isRun(block, sources) : isDependency(block.text());
            case "properties" -> block.text().lines().allMatch(BlocksTest::isProperty);
            default -> isOther(block, sources);
        };
    }

    /** Whether it is a program, or, on some pages, a part of one. */
    private static boolean isWhole(Block block) {
        return block.text().matches("(?s)(package|import) .*")
                || block.page().matches(".*/(plain-java|reconciler)\\.md");
    }

    private static boolean isOther(Block block, Sources sources) {
        if (block.text().startsWith("onlyonce.")) {
            return block.text().lines().allMatch(BlocksTest::isProperty);
        }
        if (isRun(block, sources)) {
            return true;
        }
        return block.isCommand()
                && block.text().replace("\\\n", " ").lines().allMatch(line -> isCommand(line, sources));
    }

    /** Whether tests of the page take blocks of this language from it. */
    private static boolean isRun(Block block, Sources sources) {
        String page = block.page().substring(block.page().lastIndexOf('/') + 1);
        return !block.language().isEmpty()
                && RUN.getOrDefault(block.page(), List.of()).stream()
                        .map(sources::test)
                        .anyMatch(test -> test.contains(page)
                                && (test.contains("```" + block.language())
                                        || test.contains("PageProgram")
                                        || test.contains("```\" +")
                                        || test.contains("\"" + block.language() + "\"")
                                        || test.contains(block.language() + ", ")));
    }

    private static boolean isDependency(String text) throws IOException {
        String bom = Files.readString(Pages.ROOT.resolve("bom/pom.xml"));
        Matcher artifact = ARTIFACT.matcher(text);
        if (!artifact.find()) {
            return false;
        }
        return bom.contains("<artifactId>" + artifact.group(1) + "</artifactId>")
                && bom.contains("<version>" + artifact.group(2) + "</version>");
    }

    private static boolean isProperty(String line) {
        String name = line.substring(0, line.indexOf('=')).replaceFirst("\\.keys\\.\\d+$", ".keys");
        String page = read("docs/reference/configuration.md");
        if (name.startsWith("onlyonce.operations.")) {
            String ofOne = page.substring(page.indexOf("`onlyonce.operations.[NAME].` takes"));
            return ofOne.contains("`" + name.substring(name.indexOf("].") + 2) + "`");
        }
        return page.contains("\n| `" + name + "` | ");
    }

    private static boolean isCommand(String line, Sources sources) {
        Matcher command = COMMAND.matcher(line);
        if (command.lookingAt()) {
            return isOurs(command.group(1).strip(), line);
        }
        if (!line.startsWith("mvn ")) {
            return false;
        }
        Matcher module = Pattern.compile("-pl (\\S+)").matcher(line);
        Matcher test = Pattern.compile("-Dtest='?(\\w+)").matcher(line);
        return (!module.find()
                        || Files.exists(Pages.ROOT.resolve(module.group(1)).resolve("pom.xml")))
                && (!test.find() || !sources.test("/" + test.group(1)).isEmpty());
    }

    /** Whether the command is one of the launcher's or of the program, and has these options. */
    private static boolean isOurs(String command, String line) {
        if (Pattern.compile("(?m)^    (.* )?" + command + "( .*)?\\)$")
                .matcher(read("onlyonce"))
                .find()) {
            return true;
        }
        String page = read("docs/reference/cli.md");
        int begin = page.indexOf("\n## onlyonce " + command + "\n");
        int end = page.indexOf("\n## ", begin + 1);
        if (begin < 0) {
            return false;
        }
        String known = page.substring(0, page.indexOf("\n## ")) + page.substring(begin, end < 0 ? page.length() : end);
        return OPTION.matcher(line.replaceAll("'[^']*'|\"[^\"]*\"", ""))
                .results()
                .allMatch(option -> Pattern.compile(Pattern.quote(option.group()) + "(?![a-z-])")
                        .matcher(known)
                        .find());
    }

    private static String read(String file) {
        try {
            return Files.readString(Pages.ROOT.resolve(file));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** The tests of all modules, as they are and without white space and comments. */
    private record Sources(Map<String, String> texts, String squeezed) {
        static Sources read() throws IOException {
            Map<String, String> texts = new LinkedHashMap<>();
            StringBuilder squeezed = new StringBuilder();
            try (Stream<Path> files = Files.walk(Pages.ROOT)) {
                for (Path file : files.filter(Sources::isTest).toList()) {
                    String text = Files.readString(file);
                    texts.put(Pages.ROOT.relativize(file).toString(), text);
                    squeezed.append(squeeze(text)).append('\n');
                }
            }
            return new Sources(texts, squeezed.toString());
        }

        private static boolean isTest(Path file) {
            String name = Pages.ROOT.relativize(file).toString();
            return name.endsWith(".java")
                    && name.contains("src/test/")
                    && !name.contains("target/")
                    && !name.endsWith("/BlocksTest.java");
        }

        private static String squeeze(String code) {
            return code.replaceAll("//[^\n]*", "").replaceAll("\\s", "");
        }

        boolean compile(String code) {
            return squeezed.contains(squeeze(code));
        }

        /** The test whose path ends so; empty if there is none. */
        String test(String name) {
            return texts.entrySet().stream()
                    .filter(file -> file.getKey().endsWith(name + ".java"))
                    .map(Map.Entry::getValue)
                    .findFirst()
                    .orElse("");
        }
    }
}
