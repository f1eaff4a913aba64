package dev.onlyonce.client.journal;

import dev.onlyonce.client.JournalException;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The file of a journal, the lock beside it, and the way to replace the file as a whole. The lock is a file of its own, because
 * the journal is replaced.
 */
final class JournalFiles implements Closeable {
    private static final long LOCK_WAIT_MAX_NANOS = Duration.ofSeconds(10).toNanos();
    private static final long LOCK_PAUSE_NANOS = Duration.ofMillis(1).toNanos();
    private static final int GENERATION_BYTES = 16;
    private static final int LINKS_MAX = 40;
    private static final Set<PosixFilePermission> OWNER =
            EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);

    private final Path path;
    private @Nullable RandomAccessFile lockFile;

    /** Writes frames to a new file. */
    interface Sink {
        void frame(byte[] payload) throws IOException;
    }

    /** Fills a new file. */
    interface Content {
        void to(Sink sink) throws IOException;
    }

    /** The lock, while it is held. */
    interface Held {
        void release() throws IOException;
    }

    JournalFiles(Path path) {
        this.path = path;
    }

    /**
     * The file that a symbolic link leads to. The journal is replaced as a whole, which would replace the link and leave the file
     * behind; and the lock must be the same by every name.
     */
    static Path real(Path file) {
        Path path = file.toAbsolutePath();
        try {
            for (int links = 0; Files.isSymbolicLink(path); links++) {
                if (links == LINKS_MAX) {
                    throw new JournalException(file + " is a symbolic link that leads in a circle");
                }
                path = path.resolveSibling(Files.readSymbolicLink(path));
            }
            return path;
        } catch (IOException e) {
            throw new JournalException(file + " is a symbolic link that cannot be followed: " + e.getMessage(), e);
        }
    }

    Path path() {
        return path;
    }

    /** Waits for the lock, in bounds: a process that was stopped while it had it must not stop us too. */
    Held hold() throws IOException {
        if (lockFile == null) {
            makeDirectory(path.getParent());
            Path beside = path.resolveSibling(path.getFileName() + ".lock");
            create(beside);
            lockFile = new RandomAccessFile(beside.toFile(), "rw");
        }
        long begun = System.nanoTime();
        FileLock held = tryLock(lockFile.getChannel());
        while (held == null) {
            if (System.nanoTime() - begun > LOCK_WAIT_MAX_NANOS) {
                throw new JournalException(
                        "Another process has held the lock on " + path + " for 10 seconds; is it stopped?");
            }
            LockSupport.parkNanos(LOCK_PAUSE_NANOS);
            held = tryLock(lockFile.getChannel());
        }
        return held::release;
    }

    private static @Nullable FileLock tryLock(FileChannel channel) throws IOException {
        try {
            return channel.tryLock();
        } catch (OverlappingFileLockException e) {
            // Another journal of this process has the same file.
            return null;
        }
    }

    /** Makes the file if there is none. Call it with the lock held. */
    void create() throws IOException {
        if (Files.notExists(path)) {
            replace(sink -> {});
        }
    }

    /** Refuses a file that others can read. */
    void checkOwnerOnly() throws IOException {
        if (isPosix(path) && !OWNER.containsAll(Files.getPosixFilePermissions(path))) {
            throw new JournalException(
                    path + " holds requests and keys, and others can read it; run: chmod 600 " + path);
        }
    }

    /** Writes a new file, makes it durable, and puts it in the place of the old one. A crash leaves one of both. */
    void replace(Content content) throws IOException {
        byte[] generation = new byte[GENERATION_BYTES];
        new SecureRandom().nextBytes(generation);
        Path temporary = path.resolveSibling(path.getFileName() + ".new");
        Files.deleteIfExists(temporary);
        create(temporary);
        try (FileOutputStream file = new FileOutputStream(temporary.toFile());
                OutputStream out = new BufferedOutputStream(file)) {
            out.write(Frames.head(generation));
            long[] end = {Frames.HEAD_BYTES};
            content.to(payload -> {
                ByteBuffer prefix = ByteBuffer.allocate(Long.BYTES)
                        .putInt(payload.length)
                        .putInt(Frames.checksum(generation, end[0], payload));
                out.write(prefix.array());
                out.write(payload);
                end[0] += Long.BYTES + payload.length;
            });
            out.flush();
            file.getFD().sync();
        }
        Files.move(temporary, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        syncDirectory();
    }

    private static void create(Path file) throws IOException {
        try {
            if (isPosix(file.toAbsolutePath().getParent())) {
                Files.createFile(file, PosixFilePermissions.asFileAttribute(OWNER));
            } else {
                Files.createFile(file);
            }
        } catch (FileAlreadyExistsException e) {
            // Somebody made it before.
        }
    }

    private static boolean isPosix(@Nullable Path path) throws IOException {
        return path != null && Files.getFileStore(path).supportsFileAttributeView("posix");
    }

    /** Makes a directory and those above it, so that all of them survive a power cut. */
    private static void makeDirectory(@Nullable Path directory) throws IOException {
        if (directory == null || Files.exists(directory)) {
            return;
        }
        Path above = directory.getParent();
        makeDirectory(above);
        Files.createDirectories(directory);
        sync(above);
    }

    /** So that the name of the file survives a power cut too. */
    void syncDirectory() throws IOException {
        sync(path.getParent());
    }

    /** Interrupts close channels, so it is tried without one. */
    private static void sync(@Nullable Path directory) throws IOException {
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

    /**
     * Takes the lock first: when a process closes a file, the system drops all locks that the process has on it, also that of
     * another journal here that is writing at this moment.
     */
    @Override
    public void close() throws IOException {
        if (lockFile != null) {
            var unused = hold();
            lockFile.close();
            lockFile = null;
        }
    }
}
