package dev.onlyonce.testservers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/**
 * MySQL Group Replication with a single primary: servers that agree on each commit before it is acknowledged, and choose another
 * primary when theirs is gone. The program of {@link MySqlServer} lacks the plugin, so the caller brings a whole distribution.
 */
public final class MySqlGroup implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(3);
    private static final Duration PAUSE = Duration.ofMillis(100);

    private final Path home;
    private final List<Member> members = new ArrayList<>();

    /** One server, and the port on which it speaks SQL. */
    private record Member(DatabaseServer server, int port) {}

    private MySqlGroup(Path home) {
        this.home = home;
    }

    /**
     * Starts a group; returns when all members are online.
     *
     * @param base an unpacked distribution of MySQL 8 with {@code bin}, {@code lib} and {@code share}
     */
    public static MySqlGroup start(Path base, int size) {
        MySqlGroup group = new MySqlGroup(Folders.temporary("onlyonce-mysql-group"));
        try {
            group.launch(base, size);
            return group;
        } catch (IOException e) {
            group.close();
            throw new UncheckedIOException(e);
        } catch (RuntimeException e) {
            group.close();
            throw e;
        }
    }

    private void launch(Path base, int size) throws IOException {
        if (!base.resolve("bin/mysqld").toFile().setExecutable(true)) {
            throw new IOException("No bin/mysqld in " + base);
        }
        if (!Files.exists(base.resolve("lib/private/libaio.so.1"))) {
            Binaries.writeAbsentLibraries(base);
        }
        Path empty = home.resolve("empty");
        MySqlServer.initialise(base, empty);
        List<Integer> inner = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            inner.add(ServerUrl.freePort());
        }
        String seeds = inner.stream().map(port -> "127.0.0.1:" + port).collect(Collectors.joining(","));
        for (int i = 0; i < size; i++) {
            members.add(member(base, empty, i + 1, inner.get(i), seeds));
            join(members.get(i), i == 0);
        }
        await("all members online", () -> online(members.get(0)) == size);
    }

    private Member member(Path base, Path empty, int number, int inner, String seeds) {
        Path folder = Folders.create(home.resolve("member" + number));
        Path data = folder.resolve("data");
        MySqlServer.copy(empty, folder.resolve("draft"), data);
        int port = ServerUrl.freePort();
        List<String> command = new ArrayList<>(MySqlServer.command(base, data));
        command.addAll(List.of(
                "--tmpdir=" + Folders.create(folder.resolve("tmp")),
                "--bind-address=127.0.0.1",
                "--port=" + port,
                "--socket=server.sock",
                "--mysqlx=OFF",
                "--skip-name-resolve",
                "--innodb-flush-log-at-trx-commit=1",
                "--sync-binlog=1",
                "--server-id=" + number,
                "--gtid-mode=ON",
                "--enforce-gtid-consistency=ON",
                "--log-bin=binlog",
                "--report-host=127.0.0.1",
                "--report-port=" + port,
                "--plugin-dir=" + base.resolve("lib/plugin"),
                "--plugin-load-add=group_replication.so",
                "--group-replication-group-name=aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa",
                "--group-replication-start-on-boot=OFF",
                "--group-replication-bootstrap-group=OFF",
                "--group-replication-local-address=127.0.0.1:" + inner,
                "--group-replication-group-seeds=" + seeds,
                "--group-replication-ip-allowlist=127.0.0.1/8",
                "--group-replication-recovery-get-public-key=ON",
                // A new primary answers only when it has all that the old one has acknowledged.
                "--group-replication-consistency=BEFORE_ON_PRIMARY_FAILOVER",
                "--group-replication-member-expel-timeout=0"));
        ServerUrl url = new ServerUrl("jdbc:mysql://127.0.0.1:" + port, "mysql", "?user=root");
        DatabaseServer server = DatabaseServer.start(
                new DatabaseServer.Plan("MySQL", command, url, "TERM", "KILL"), folder.resolve("server.log"), null);
        return new Member(server, port);
    }

    private static void join(Member member, boolean first) {
        execute(
                member,
                "SET SQL_LOG_BIN = 0",
                "CREATE USER replicator@'%' IDENTIFIED BY 'replicator'",
                "GRANT REPLICATION SLAVE, BACKUP_ADMIN, GROUP_REPLICATION_STREAM ON *.* TO replicator@'%'",
                "SET SQL_LOG_BIN = 1",
                "RESET MASTER",
                "CHANGE REPLICATION SOURCE TO SOURCE_USER = 'replicator', SOURCE_PASSWORD = 'replicator'"
                        + " FOR CHANNEL 'group_replication_recovery'",
                "SET GLOBAL group_replication_bootstrap_group = " + (first ? "ON" : "OFF"),
                "START GROUP_REPLICATION",
                "SET GLOBAL group_replication_bootstrap_group = OFF");
    }

    /** The addresses of all members, {@code host:port}, separated by commas. */
    public String hosts() {
        return members.stream().map(member -> "127.0.0.1:" + member.port).collect(Collectors.joining(","));
    }

    /** Runs statements on the primary. */
    public void execute(String... statements) {
        execute(primary().orElseThrow(), statements);
    }

    /** Ends the primary with SIGKILL, as a crash would. */
    public void killPrimary() {
        Member primary = primary().orElseThrow();
        primary.server.kill();
        members.remove(primary);
    }

    /** Returns when the members that are left have a primary that takes writes. */
    public void awaitPrimary() {
        await("another primary", () -> primary().isPresent());
    }

    private Optional<Member> primary() {
        return members.stream()
                .filter(member -> number(member, "SELECT NOT @@GLOBAL.super_read_only") == 1)
                .findFirst();
    }

    private static int online(Member member) {
        return number(
                member,
                "SELECT count(*) FROM performance_schema.replication_group_members WHERE MEMBER_STATE = 'ONLINE'");
    }

    @FunctionalInterface
    private interface Condition {
        boolean holds();
    }

    private static void await(String what, Condition condition) {
        long begun = System.nanoTime();
        while (!condition.holds()) {
            if (System.nanoTime() - begun > PATIENCE.toNanos()) {
                throw new IllegalStateException("Not within " + PATIENCE + ": " + what);
            }
            LockSupport.parkNanos(PAUSE.toNanos());
        }
    }

    private static Connection connect(Member member) throws SQLException {
        return DriverManager.getConnection(member.server.jdbcUrl("mysql"));
    }

    private static void execute(Member member, String... statements) {
        try (Connection connection = connect(member);
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(String.join("; ", statements), e);
        }
    }

    /** What a query gives, or -1 if the member does not answer. */
    private static int number(Member member, String query) {
        try (Connection connection = connect(member);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            return row.next() ? row.getInt(1) : -1;
        } catch (SQLException e) {
            return -1;
        }
    }

    @Override
    public void close() {
        members.forEach(member -> member.server.close());
        Folders.delete(home);
    }
}
