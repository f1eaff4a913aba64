package dev.onlyonce.sql.guide;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;

/** A program that a page shows: compiled and run as a reader would. */
public final class PageProgram {
    private static final Pattern JAVA = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL);
    private static final Pattern NAME = Pattern.compile("public class (\\w+)");

    private final String source;
    private final String name;

    private PageProgram(String source) {
        this.source = source;
        Matcher found = NAME.matcher(source);
        assertThat(found.find()).as("the page has a program").isTrue();
        this.name = found.group(1);
    }

    /** The first block of Java on a page. */
    public static PageProgram firstOn(String page) throws IOException {
        Matcher block = blocks(page);
        assertThat(block.find()).isTrue();
        return new PageProgram(block.group(1));
    }

    /** All blocks of Java on a page, one below the other. */
    public static PageProgram wholeOf(String page) throws IOException {
        StringBuilder source = new StringBuilder();
        Matcher block = blocks(page);
        while (block.find()) {
            source.append(block.group(1)).append('\n');
        }
        return new PageProgram(source.toString());
    }

    private static Matcher blocks(String page) throws IOException {
        return JAVA.matcher(
                Files.readString(Path.of(System.getProperty("onlyonce.root")).resolve(page)));
    }

    /** Compiles into a folder, runs with a file name in it as the argument, and returns the lines that it prints. */
    public List<String> run(Path folder) throws IOException, InterruptedException {
        Path file = Files.writeString(folder.resolve(name + ".java"), source);
        String classPath = System.getProperty("java.class.path");
        int compiled = ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        null,
                        null,
                        "-Xlint:all",
                        "-Werror",
                        "-cp",
                        classPath,
                        "-d",
                        folder.toString(),
                        file.toString());
        assertThat(compiled).as("the program compiles without a warning").isZero();
        Path out = folder.resolve("out.txt");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        folder + File.pathSeparator + classPath,
                        name,
                        folder.resolve("entries.db").toString())
                .redirectOutput(out.toFile())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            assertThat(process.waitFor(60, TimeUnit.SECONDS))
                    .as("the program ends")
                    .isTrue();
        } finally {
            process.destroyForcibly();
        }
        assertThat(process.exitValue()).isZero();
        return Files.readAllLines(out, StandardCharsets.UTF_8);
    }
}
