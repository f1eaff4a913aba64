package dev.onlyonce.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.store.EntryTable;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.TableStore;
import dev.onlyonce.store.Time;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;

/** The store that the guide for authors of stores builds, compiled from the page. */
final class GuideStore {
    private static final int LINES_MAX = 150;
    private static final String NAME = "FileTable";

    private final Constructor<?> table;

    /** Compiles it into the folder. */
    GuideStore(Path folder) throws IOException, ReflectiveOperationException {
        String source = block("public final class " + NAME);
        assertThat(source.lines().count()).isLessThanOrEqualTo(LINES_MAX);
        Path file = Files.writeString(folder.resolve(NAME + ".java"), source);
        int compiled = ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        null,
                        null,
                        "-Xlint:all",
                        "-Werror",
                        "-proc:none",
                        "-cp",
                        System.getProperty("java.class.path"),
                        "-d",
                        folder.toString(),
                        file.toString());
        assertThat(compiled).as("the store compiles without a warning").isZero();
        URL[] classes = {folder.toUri().toURL()};
        table = new URLClassLoader(classes, getClass().getClassLoader())
                .loadClass(NAME)
                .getConstructor(File.class, Time.class);
    }

    Store open(Path file, Time time) {
        try {
            return new TableStore((EntryTable) table.newInstance(file.toFile(), time));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("The guide's store does not open", e);
        }
    }

    /** The block of Java on the page that has this text. */
    static String block(String text) throws IOException {
        String page = Files.readString(Path.of(System.getProperty("onlyonce.root"), "docs/guides/writing-a-store.md"));
        Matcher blocks = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL).matcher(page);
        while (blocks.find()) {
            if (blocks.group(1).contains(text)) {
                return blocks.group(1);
            }
        }
        throw new AssertionError("not on the page: " + text);
    }
}
