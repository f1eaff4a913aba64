package dev.onlyonce.server.cli;

import dev.onlyonce.server.gateway.OpenStore;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Copies a SQLite database that is in use. A copy of the file alone would lack what is in its write-ahead log.
 *
 * <ol>
 *   <li>SQLite writes a consistent copy, as of one moment, to a file that nobody takes for a back-up.
 *   <li>The copy is checked, and flushed to the disk.
 *   <li>Only then does it get its name. A file of that name is never replaced.
 * </ol>
 */
@Command(
        name = "backup",
        description = {
            "Copies the SQLite database of a gateway or an application, also while it runs.",
            "Read docs/operating/backup.md before you restore one: a restored database has forgotten every key since then."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  onlyonce backup /backups/onlyonce-monday.db",
            "  onlyonce backup --db jdbc:sqlite:/var/lib/shop/onlyonce.db /backups/shop.db"
        })
final class BackupCommand extends PrintingCommand {
    private static final int BUSY_MILLIS = 10_000;

    @Parameters(paramLabel = "FILE", description = "The copy to make; it must not exist")
    private Path to = Path.of("backup.db");

    @Option(
            names = "--data",
            paramLabel = "DIR",
            defaultValue = "data",
            description = "The gateway's data directory (${DEFAULT-VALUE})")
    private Path data = Path.of("data");

    @Option(names = "--db", paramLabel = "JDBC-URL", description = "Copies this SQLite database instead")
    private @Nullable String db;

    @Override
    public Integer call() throws Cli.Failed {
        Path from = source();
        if (Files.exists(to)) {
            throw new Cli.Failed(Cli.USAGE, to + " exists; a back-up replaces nothing. Choose another name");
        }
        Path partial = to.resolveSibling(to.getFileName() + ".partial");
        try {
            Files.deleteIfExists(partial);
            // It holds responses, as the original does.
            Files.createFile(
                    partial, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            copy(from, partial);
            long entries = check(partial);
            flush(partial);
            Files.move(partial, to);
            out().println("Copied " + from + " to " + to + ": " + entries + " keys, " + Files.size(to) + " bytes.");
            out().flush();
            return Cli.OK;
        } catch (FileAlreadyExistsException e) {
            throw new Cli.Failed(Cli.FAILED, to + " has appeared meanwhile; the back-up is in " + partial);
        } catch (IOException e) {
            remove(partial);
            throw new Cli.Failed(Cli.FAILED, "The copy cannot be written: " + e);
        } catch (SQLException e) {
            remove(partial);
            throw new Cli.Failed(Cli.FAILED, from + " cannot be copied: " + e.getMessage());
        }
    }

    private Path source() throws Cli.Failed {
        if (db != null && !db.startsWith(OpenStore.SQLITE)) {
            throw new Cli.Failed(
                    Cli.USAGE,
                    "Only SQLite databases are copied here; back up a server with its own tools, such as pg_dump or"
                            + " mariadb-dump --single-transaction");
        }
        Path from = db == null ? data.resolve("onlyonce.db") : OpenStore.file(db);
        if (!Files.exists(from)) {
            throw new Cli.Failed(
                    Cli.UNAVAILABLE, "There is no database " + from + ". Say where it is with --data or --db");
        }
        return from;
    }

    private static void copy(Path from, Path partial) throws SQLException {
        try (Connection connection = open(from);
                PreparedStatement copy = connection.prepareStatement("VACUUM INTO ?")) {
            copy.setString(1, partial.toString());
            copy.execute();
        }
    }

    /** How many entries the copy has. */
    private static long check(Path copy) throws SQLException {
        try (Connection connection = open(copy);
                Statement statement = connection.createStatement()) {
            try (ResultSet row = statement.executeQuery("PRAGMA integrity_check")) {
                if (!row.next() || !"ok".equals(row.getString(1))) {
                    throw new SQLException("the copy is damaged: " + row.getString(1));
                }
            }
            try (ResultSet row =
                    statement.executeQuery("SELECT COUNT(*) FROM onlyonce_entry WHERE fingerprint_version > 0")) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    private static Connection open(Path file) throws SQLException {
        return DriverManager.getConnection(OpenStore.SQLITE + file + "?busy_timeout=" + BUSY_MILLIS);
    }

    private static void flush(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.force(true);
        }
    }

    private static void remove(Path partial) {
        try {
            Files.deleteIfExists(partial);
        } catch (IOException e) {
            // The next back-up to this name removes it.
        }
    }
}
