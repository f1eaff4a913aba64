package dev.onlyonce.testservers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Where servers keep their data, and cleaning up after them. */
final class Folders {
    private static final Path MEMORY = Path.of("/dev/shm");
    /** Six servers of a cluster take less than one. */
    private static final long MEMORY_MIN = 6L << 30;

    private Folders() {}

    /** Tells whether this process runs as root. */
    static boolean isRoot() {
        return owner(Path.of("/proc/self")) == 0;
    }

    /** Returns the number of the user to whom a file belongs. */
    static int owner(Path path) {
        try {
            return (Integer) Files.getAttribute(path, "unix:uid");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Path temporary(String prefix) {
        try {
            return Files.createTempDirectory(prefix);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * A folder in memory, where there is enough of it: servers that write each change to disk wait for nothing there. It survives their
     * processes, as a disk does.
     */
    static Path quick(String prefix) {
        try {
            return Files.isWritable(MEMORY) && Files.getFileStore(MEMORY).getUsableSpace() > MEMORY_MIN
                    ? Files.createTempDirectory(MEMORY, prefix)
                    : temporary(prefix);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Path create(Path folder) {
        try {
            return Files.createDirectories(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Deletes a folder with all in it; a server that is just ending may still create files there, so it tries again. */
    static void delete(Path folder) {
        for (int attempt = 1; Files.exists(folder); attempt++) {
            try (Stream<Path> found = Files.walk(folder)) {
                List<Path> deepestFirst =
                        found.sorted(Comparator.reverseOrder()).toList();
                for (Path path : deepestFirst) {
                    Files.deleteIfExists(path);
                }
            } catch (IOException | UncheckedIOException e) {
                if (attempt == 5) {
                    throw new IllegalStateException("Cannot delete " + folder, e);
                }
            }
        }
    }
}
