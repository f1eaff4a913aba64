package dev.onlyonce.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files that programs serve: what they may contain, and that they are what the sources give. */
@DisplayName("The files of the console")
class ConsoleFilesTest {
    private static final Path MODULE =
            Path.of(System.getProperty("onlyonce.root")).resolve("console");
    private static final Path BUILT = MODULE.resolve("src/main/resources/META-INF/onlyonce/console");
    private static final List<String> NAMES = List.of("app.css", "app.js", "icon.svg", "index.html");
    private static final int FIRST_VIEW_BYTES_MAX = 100_000;
    /** A build waits no longer than this for the npm registry. */
    private static final Duration DOWNLOAD_MAX = Duration.ofMinutes(1);

    private static final Duration BUILD_MAX = Duration.ofMinutes(4);

    /** Addresses of other machines, except names of XML that are never loaded. */
    private static final Pattern OUTSIDE =
            Pattern.compile("(?:https?:)?//(?!www\\.w3\\.org/)[a-z0-9-]+\\.[a-z]{2,}[^\\s\"'`]*");

    @Test
    @DisplayName("are these four, and nothing else is served")
    void names() throws IOException {
        try (Stream<Path> files = Files.list(BUILT)) {
            assertThat(files.map(file -> file.getFileName().toString())).containsExactlyInAnyOrderElementsOf(NAMES);
        }
    }

    @Test
    @DisplayName("O2 work under a Content-Security-Policy that allows files of this server only")
    void strict() throws IOException {
        assertThat(found("<style|<script(?![^>]*\\ssrc=)|\\sstyle=|\\son[a-z]+=|javascript:", read("index.html")))
                .isEmpty();
        assertThat(found("\\beval\\(|\\bnew Function\\b|\\bdocument\\.write\\b", read("app.js")))
                .isEmpty();
        assertThat(found("@import|url\\(", read("app.css"))).isEmpty();
    }

    @Test
    @DisplayName("O2 come from sources that never turn text into markup")
    void noMarkup() throws IOException {
        try (Stream<Path> files = Files.walk(MODULE.resolve("src/main/web"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                assertThat(found(
                                "dangerouslySetInnerHTML|(?:inner|outer)HTML|insertAdjacentHTML|DOMParser|createContextualFragment|srcdoc",
                                Files.readString(file)))
                        .as(file.toString())
                        .isEmpty();
            }
        }
    }

    @Test
    @DisplayName("name no other machine")
    void alone() throws IOException {
        for (String name : NAMES) {
            // Comments with the licences of libraries may.
            String text = read(name).replaceAll("(?s)/\\*.*?\\*/", "");
            assertThat(OUTSIDE.matcher(text).results().map(MatchResult::group))
                    .as(name)
                    .isEmpty();
        }
        assertThat(Files.readString(MODULE.resolve("package-lock.json"))).doesNotContain("\"resolved\"");
    }

    @Test
    @DisplayName("of the first view need less than 100 kB over the wire")
    void small() throws IOException {
        long all = 0;
        for (String name : NAMES) {
            all += zipped(Files.readAllBytes(BUILT.resolve(name)));
        }
        assertThat(all).isBetween(10_000L, (long) FIRST_VIEW_BYTES_MAX);
    }

    @Test
    @DisplayName("are what the sources give, byte for byte, and the sources have no type errors")
    void rebuilt(@TempDir Path folder) throws Exception {
        if (!isOnPath("node") || !isOnPath("npm")) {
            loudly("Node and npm are not on the PATH");
        }
        for (String name : List.of("package.json", "package-lock.json", ".npmrc", "tsconfig.json", "build.mjs")) {
            Files.copy(MODULE.resolve(name), folder.resolve(name));
        }
        copy(MODULE.resolve("src/main/web"), folder.resolve("src/main/web"));
        Ran installed = run(
                DOWNLOAD_MAX,
                folder,
                "npm",
                "ci",
                "--ignore-scripts",
                "--no-audit",
                "--no-fund",
                "--prefer-offline",
                "--fetch-retries=0");
        assertThat(installed.output())
                .as("package.json and package-lock.json belong together")
                .doesNotContain("EUSAGE", "EINTEGRITY");
        if (installed.code() != 0) {
            loudly("npm ci failed, is the registry out of reach? " + installed.output());
        }
        Ran built = run(
                BUILD_MAX, folder, "node", "build.mjs", folder.resolve("built").toString());
        assertThat(built.code()).as(built.output()).isZero();
        for (String name : NAMES) {
            assertThat(folder.resolve("built").resolve(name))
                    .as(name + ": run `npm ci && npm run build` in console/ and commit the result")
                    .hasSameBinaryContentAs(BUILT.resolve(name));
        }
        Ran checked = run(BUILD_MAX, folder, "node", "node_modules/typescript/bin/tsc", "--noEmit");
        assertThat(checked.code()).as(checked.output()).isZero();
    }

    /** The hits alone: a message with the whole file helps nobody. */
    private static List<String> found(String pattern, String text) {
        return Pattern.compile(pattern)
                .matcher(text)
                .results()
                .map(MatchResult::group)
                .toList();
    }

    private static void loudly(String why) {
        String line = "NOT TESTED: that the console's files are what its sources give. " + why;
        System.err.println(line);
        abort(line);
    }

    private record Ran(int code, String output) {}

    private static Ran run(Duration most, Path folder, String... command) throws IOException, InterruptedException {
        Path output = Files.createTempFile(folder, "run", ".txt");
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            if (!process.waitFor(most.toSeconds(), TimeUnit.SECONDS)) {
                return new Ran(-1, "it took longer than " + most);
            }
            return new Ran(process.exitValue(), Files.readString(output));
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    private static boolean isOnPath(String program) {
        return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Path target = to.resolve(from.relativize(file).toString());
                if (Files.isDirectory(file)) {
                    Files.createDirectories(target);
                } else {
                    Files.copy(file, target, StandardCopyOption.REPLACE_EXISTING);
                }
            }
        }
    }

    private static String read(String name) throws IOException {
        return Files.readString(BUILT.resolve(name));
    }

    private static int zipped(byte[] bytes) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream zip = new GZIPOutputStream(out)) {
            zip.write(bytes);
        }
        return out.size();
    }
}
