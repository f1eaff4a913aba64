package dev.onlyonce.client.journal;

import dev.onlyonce.client.JournalException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Files that only their owner can read, and whose names survive a power cut. */
final class OwnerFiles {
    private static final int LINKS_MAX = 40;
    private static final Set<PosixFilePermission> OWNER =
            EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);

    private OwnerFiles() {}

    /** The file that a symbolic link leads to: the log beside it must be the same by every name. */
    static Path real(Path file) {
        Path path = file.toAbsolutePath();
        try {
            for (int links = 0; Files.isSymbolicLink(path); links++) {
                if (links == LINKS_MAX) {
                    throw new JournalException(file + " is a symbolic link that leads in a circle");
                }
                path = path.resolveSibling(Files.readSymbolicLink(path));
            }
            return path.normalize();
        } catch (IOException e) {
            throw new JournalException(file + " is a symbolic link that cannot be followed: " + e.getMessage(), e);
        }
    }

    /** Which file has this name now; empty if there is none, and where files have no identity. */
    static Optional<Object> identity(Path file) {
        try {
            return Optional.ofNullable(
                    Files.readAttributes(file, BasicFileAttributes.class).fileKey());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Refuses a file that others can read. */
    static void checkOwnerOnly(Path file) throws IOException {
        if (isPosix(file) && !OWNER.containsAll(Files.getPosixFilePermissions(file))) {
            throw new JournalException(
                    file + " holds requests and keys, and others can read it; run: chmod 600 " + file);
        }
    }

    /** Makes a directory and those above it, so that all of them survive a power cut. */
    static void makeDirectory(@Nullable Path directory) throws IOException {
        if (directory == null || Files.exists(directory)) {
            return;
        }
        Path above = directory.getParent();
        makeDirectory(above);
        Files.createDirectories(directory);
        sync(above);
    }

    /** Makes the names in a directory durable. Interrupts close channels, so it is tried without one. */
    static void sync(@Nullable Path directory) throws IOException {
        if (directory == null) {
            return;
        }
        boolean interrupted = Thread.interrupted();
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        } catch (IOException e) {
            if (isPosix(directory)) {
                throw e;
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static boolean isPosix(Path path) throws IOException {
        return Files.getFileStore(path).supportsFileAttributeView("posix");
    }
}
