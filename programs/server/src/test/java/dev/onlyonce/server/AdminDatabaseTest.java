package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.server.cli.Cli;
import dev.onlyonce.testservers.DynamoDbServer;
import dev.onlyonce.testservers.MySqlServer;
import dev.onlyonce.testservers.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

@DisplayName("An operator of a database")
@ResourceLock(Resources.SYSTEM_PROPERTIES)
class AdminDatabaseTest extends AdminFixture {

    @Test
    @DisplayName("makes no database by a slip of the pen, and looks at one without changing it")
    void noSuchDatabase() throws Exception {
        Path file = folder.resolve("typo.db");
        for (List<String> command : List.of(List.of("keys", "list"), List.of("schema", "status"))) {
            List<String> all = new ArrayList<>(command);
            all.addAll(List.of("--db", "jdbc:sqlite:" + file));
            Result refused = run(all.toArray(String[]::new));
            assertThat(refused.exitCode()).as("%s", command).isEqualTo(Cli.UNAVAILABLE);
            assertThat(refused.err()).contains("typo.db");
            assertThat(file).doesNotExist();
        }
        Files.createFile(file);
        assertThat(run("schema", "status", "--db", "jdbc:sqlite:" + file).exitCode())
                .as("it is not current, and stays so")
                .isEqualTo(Cli.FAILED);
        Result noTables = run("keys", "list", "--db", "jdbc:sqlite:" + file);
        assertThat(noTables.exitCode()).isEqualTo(Cli.UNAVAILABLE);
        assertThat(noTables.err()).contains("run onlyonce schema apply");
        assertThat(run("schema", "apply", "--db", "jdbc:sqlite:" + file).exitCode())
                .isZero();
        assertThat(run("schema", "status", "--db", "jdbc:sqlite:" + file).exitCode())
                .isZero();
    }

    @Test
    @DisplayName("cannot change a database whose tables are of a newer release, nor what is no database")
    void newerDatabase() throws Exception {
        String url = "jdbc:sqlite:" + folder.resolve("newer.db");
        Files.createFile(folder.resolve("newer.db"));
        assertThat(run("schema", "apply", "--db", url).exitCode()).isZero();
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO onlyonce_schema (version) VALUES (99)");
        }
        Result evict = run("keys", "evict", "a", "--reason", "r", "--db", url);
        assertThat(evict.exitCode()).isEqualTo(Cli.UNAVAILABLE);
        assertThat(evict.err()).contains("version 99").contains("upgrade Onlyonce");
        assertThat(run("schema", "status", "--db", url).err()).contains("upgrade Onlyonce");
        Path text = Files.writeString(folder.resolve("text.db"), "This is no database. ".repeat(100));
        assertThat(run("keys", "list", "--db", "jdbc:sqlite:" + text).err()).contains("not a database");
    }

    @Test
    @DisplayName("works on a database without a gateway")
    void offline() throws Exception {
        gateway.post("/payments", "order-1", "{}");
        gateway.drain();
        String db = "jdbc:sqlite:" + gateway.data().resolve("onlyonce.db");
        assertThat(run("keys", "list", "--db", db).out()).contains("order-1");
        assertThat(run("stats", "--db", db, "--json").out()).contains("\"completed\" : 1");
        assertThat(run("schema", "status", "--db", db).exitCode()).isZero();
        assertThat(run("outbox", "list", "--db", db).exitCode()).isZero();
        assertThat(run("outbox", "retry", "1", "--reason", "r", "--db", db).exitCode())
                .isEqualTo(Cli.NOT_FOUND);
        assertThat(run("keys", "evict", "order-1", "--reason", "test", "--db", db)
                        .exitCode())
                .isZero();
        assertThat(run("keys", "list").exitCode()).as("no gateway runs").isEqualTo(Cli.UNAVAILABLE);
    }

    @Test
    @DisplayName("E2 works on MySQL without a gateway, and learns once, without the password, what is wrong")
    void mySql() throws Exception {
        Path own = Files.createDirectory(folder.resolve("mysql"));
        String db = MySqlServer.shared().createDatabase();
        Result missing = run("keys", "list", "--db", db);
        assertThat(missing.exitCode()).isEqualTo(Cli.UNAVAILABLE);
        assertThat(missing.err()).contains("version 0", "run onlyonce schema apply");
        assertThat(run("schema", "apply", "--db", db).out()).contains("mysql: version 1 is installed");
        assertThat(run("schema", "status", "--db", db).exitCode()).isZero();
        try (CountingUpstream service = new CountingUpstream();
                Running onMySql = Running.start(own, service.url(), "store: {url: '" + db + "', schema: validate}")) {
            onMySql.post("/payments", "order-1", "{}");
        }
        assertThat(run("keys", "list", "--db", db).out()).contains("order-1");
        assertThat(run("stats", "--db", db, "--json").out()).contains("\"completed\" : 1");
        assertThat(run("outbox", "list", "--db", db).exitCode()).isZero();
        assertThat(run("keys", "evict", "order-1", "--reason", "test", "--db", db)
                        .exitCode())
                .isZero();
        assertThat(run("keys", "list", "--db", db).out()).doesNotContain("order-1");
        assertThat(run("keys", "list", "--db", db + "&evict=no").exitCode()).isEqualTo(Cli.USAGE);
        Result refused = run("keys", "list", "--db", db + "&password=s3cret");
        assertThat(refused.exitCode()).isEqualTo(Cli.UNAVAILABLE);
        assertThat(refused.err())
                .contains("cannot be reached", "sslMode=verify-full")
                .doesNotContain("s3cret");
        Result absent = run("keys", "list", "--db", "jdbc:mysql://127.0.0.1:1/x?user=app&password=s3cret");
        assertThat(absent.exitCode()).isEqualTo(Cli.UNAVAILABLE);
        assertThat(absent.err()).containsOnlyOnce("Connection refused").doesNotContain("s3cret");
    }

    @Test
    @DisplayName("works on Redis without a gateway, and says which commands Redis does not have")
    void redis() throws Exception {
        Path own = Files.createDirectory(folder.resolve("redis"));
        try (RedisServer server = RedisServer.start();
                CountingUpstream upstream = new CountingUpstream()) {
            String db = server.url();
            try (Running onRedis = Running.start(own, upstream.url(), "store: {url: '" + db + "'}")) {
                onRedis.post("/payments", "order-1", "{}");
            }
            assertThat(run("keys", "list", "--db", db).out()).contains("order-1");
            assertThat(run("stats", "--db", db, "--json").out()).contains("\"completed\" : 1");
            assertThat(run("outbox", "list", "--db", db).exitCode()).isZero();
            assertThat(run("schema", "status", "--db", db).err()).contains("this store has no schema");
            assertThat(run("keys", "evict", "order-1", "--reason", "test", "--db", db)
                            .exitCode())
                    .isZero();
            assertThat(run("keys", "list", "--db", db).out()).doesNotContain("order-1");
            assertThat(run("keys", "list", "--db", db + "?evict=no").exitCode()).isEqualTo(Cli.USAGE);
            server.kill();
            Result refused = run("keys", "list", "--db", db);
            assertThat(refused.exitCode()).isEqualTo(Cli.UNAVAILABLE);
            assertThat(refused.err()).contains("127.0.0.1:" + server.port(), "Connection refused");
        }
    }

    @Test
    @DisabledIfSystemProperty(
            named = DynamoDbServer.PROPERTY,
            matches = "false",
            disabledReason = "-Ddynamodb.local=false")
    @DisplayName("creates the table of DynamoDB, works on it without a gateway, and learns what is missing")
    void dynamoDb() throws Exception {
        Path own = Files.createDirectory(folder.resolve("dynamodb"));
        try (AwsEnvironment aws = new AwsEnvironment();
                CountingUpstream upstream = new CountingUpstream()) {
            String db = aws.url("admin");
            Result missing = run("keys", "list", "--db", db);
            assertThat(missing.exitCode()).isEqualTo(Cli.UNAVAILABLE);
            assertThat(missing.err()).contains("table admin", "onlyonce schema apply");
            assertThat(run("schema", "apply", "--db", db).out()).contains("version 1 is installed");
            assertThat(run("schema", "status", "--db", db).exitCode()).isZero();
            try (Running onDynamo = Running.start(own, upstream.url(), "store: {url: '" + db + "'}")) {
                onDynamo.post("/payments", "order-1", "{}");
            }
            assertThat(run("keys", "list", "--db", db).out()).contains("order-1");
            assertThat(run("stats", "--db", db, "--json").out()).contains("\"completed\" : 1");
            assertThat(run("keys", "evict", "order-1", "--reason", "test", "--db", db)
                            .exitCode())
                    .isZero();
            assertThat(run("keys", "list", "--db", db).out()).doesNotContain("order-1");
            assertThat(run("keys", "list", "--db", db + "&evict=no").exitCode()).isEqualTo(Cli.USAGE);
            aws.server().kill();
            Result refused = run("keys", "list", "--db", db);
            assertThat(refused.exitCode()).isEqualTo(Cli.UNAVAILABLE);
            assertThat(refused.err()).contains("127.0.0.1:" + aws.server().port(), "no connection");
        }
    }
}
