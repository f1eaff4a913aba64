package dev.onlyonce.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Finds the pages and the sources of the repository. */
final class Pages {
    static final Path ROOT = Modules.ROOT;
    static final Path ARCHITECTURE = ROOT.resolve("docs/internals/architecture.md");

    private Pages() {}

    /** The Markdown pages for readers: those in the root directory and below {@code docs}. */
    static List<Path> all() throws IOException {
        try (Stream<Path> root = Files.list(ROOT);
                Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
            return Stream.concat(root, docs)
                    .filter(file -> file.toString().endsWith(".md"))
                    .sorted()
                    .toList();
        }
    }

    /** The path of a page as readers know it. */
    static String name(Path page) {
        return ROOT.relativize(page).toString();
    }
}
