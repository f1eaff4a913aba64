package dev.onlyonce.server.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.Set;

/** Files with secrets, and the directory that they are in. */
public final class OwnerOnly {
    private static final Set<PosixFilePermission> OTHERS = EnumSet.of(
            PosixFilePermission.GROUP_READ,
            PosixFilePermission.GROUP_WRITE,
            PosixFilePermission.OTHERS_READ,
            PosixFilePermission.OTHERS_WRITE);

    private static final Set<PosixFilePermission> OTHERS_WRITE =
            EnumSet.of(PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_WRITE);

    private static final String ROOT = "root";

    private OwnerOnly() {}

    /** Throws {@link IllegalArgumentException} with what to do if others than its owner can read or change the file. */
    public static void check(Path file) throws IOException {
        Set<PosixFilePermission> others = EnumSet.copyOf(OTHERS);
        if (isLent(file)) {
            others.remove(PosixFilePermission.GROUP_READ);
        }
        if (Files.getPosixFilePermissions(file).stream().anyMatch(others::contains)) {
            throw new IllegalArgumentException(file + " can be read by others; run: chmod 600 " + file);
        }
    }

    /** Root lends it to a group, as Kubernetes does with secrets: the gateway, which is not root, has no other right to read it. */
    private static boolean isLent(Path file) throws IOException {
        return Files.getOwner(file).getName().equals(ROOT) && !ROOT.equals(System.getProperty("user.name"));
    }

    /**
     * Throws {@link IllegalArgumentException} with what to do if others than its owner can put files into the directory: they
     * could put their own in the place of ours. Reading it shows only names.
     */
    public static void checkDirectory(Path directory) throws IOException {
        if (Files.getPosixFilePermissions(directory).stream().anyMatch(OTHERS_WRITE::contains)) {
            throw new IllegalArgumentException("others can change the files in " + directory + "; run: chmod 700 "
                    + directory + ", or name a directory that does not exist yet: it will be made for its owner only");
        }
    }
}
