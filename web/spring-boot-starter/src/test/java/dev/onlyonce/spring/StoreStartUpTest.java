package dev.onlyonce.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.OutcomeException;
import dev.onlyonce.Policy;
import dev.onlyonce.Scope;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.spring.actuator.OnlyonceHealth;
import dev.onlyonce.spring.transactions.TransactionalWay;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Store;
import dev.onlyonce.testservers.CassandraCluster;
import dev.onlyonce.testservers.DynamoDbServer;
import dev.onlyonce.testservers.RedisServer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

@DisplayName("Where an application keeps its entries")
@Order(1)
class StoreStartUpTest extends StartUp {

    @Test
    @DisplayName("onlyonce.store=memory keeps them in memory, although there is a database")
    void memory() {
        sql.withPropertyValues("onlyonce.store=memory")
                .run(context -> assertThat(context.getBean(Store.class)).isInstanceOf(MemoryStore.class));
        sql.withPropertyValues("onlyonce.store.memory=true", "onlyonce.store.sweep-every=2s")
                .run(context -> assertThat(context.getBean(Store.class)).isInstanceOf(MemoryStore.class));
    }

    @Test
    @DisplayName("The short form has the defaults of all other settings of the store")
    void shortForm() {
        runner.withPropertyValues("onlyonce.store=memory").run(context -> {
            OnlyonceProperties.StoreSettings settings =
                    context.getBean(OnlyonceProperties.class).store();
            assertThat(settings.sweepEvery()).hasSeconds(1);
            assertThat(settings.auditRetention()).hasDays(400);
        });
    }

    @Test
    @DisplayName("Keys to encrypt results with do not keep tests from using memory")
    void encrypted() {
        runner.withPropertyValues(
                        "onlyonce.store=memory",
                        "onlyonce.encryption.current=1",
                        "onlyonce.encryption.keys.1=MDEyMzQ1Njc4OWFiY2RlZg==")
                .run(context -> assertThat(context).hasNotFailed());
    }

    static class Bookings {
        @Idempotent(key = "#id", operation = "book")
        public String book(String id) {
            return "booked again";
        }
    }

    @Test
    @DisplayName("F1 R1 a bean method that was renamed gets the value that is stored under its former name")
    void renamedMethod() {
        runner.withPropertyValues("onlyonce.store=memory", "onlyonce.operations.book.formerly=Bookings.book")
                .withBean(Bookings.class)
                .run(context -> {
                    byte[] arguments = "[\"1\"]".getBytes(StandardCharsets.UTF_8);
                    context.getBean(Onlyonce.class)
                            .registry()
                            .execute(
                                    Key.of("application", "Bookings.book", "1"),
                                    Fingerprint.ofJson(arguments),
                                    Policy.standard(),
                                    Codec.bytes(),
                                    claim -> "\"booked before\"".getBytes(StandardCharsets.UTF_8));
                    Bookings bookings = context.getBean(Bookings.class);
                    assertThat(bookings.book("1")).isEqualTo("booked before");
                    assertThat(bookings.book("2")).isEqualTo("booked again");
                });
    }

    static class Trips {
        @Idempotent(key = "#id")
        public String start(String id) {
            return "started";
        }

        @Idempotent(key = "#id")
        public String end(String id, String where) {
            return "ended";
        }

        @Idempotent(key = "#id", scope = Scope.OPERATION)
        public String rate(String id) {
            return "rated";
        }
    }

    @Test
    @DisplayName(
            "K6 a key of one bean method is refused by another, which says what to do, unless it has keys of its own")
    void oneKey() {
        runner.withPropertyValues("onlyonce.store=memory").withBean(Trips.class).run(context -> {
            Trips trips = context.getBean(Trips.class);
            trips.start("1");
            assertThatThrownBy(() -> trips.end("1", "here"))
                    .isInstanceOf(OutcomeException.class)
                    .hasMessageContaining("another operation")
                    .hasMessageContaining("scope = Scope.OPERATION");
            trips.end("2", "here");
            assertThatThrownBy(() -> trips.end("2", "there")).hasMessageContaining("other arguments");
            assertThat(trips.rate("1")).isEqualTo("rated");
        });
    }

    @Test
    @DisplayName("Another word than the names of stores is refused")
    void otherWord() {
        runner.withPropertyValues("onlyonce.store=etcd")
                .run(context -> assertThat(context)
                        .hasFailed()
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("memory, redis, dynamodb and cassandra only")
                        .hasMessageContaining("DataSource (PostgreSQL, MySQL, MariaDB, H2) is used without a setting")
                        .hasMessageContaining("onlyonce.store.sqlite"));
    }

    @Test
    @DisplayName("Memory and a SQLite file at once are refused")
    void both() {
        refuses(
                runner.withPropertyValues("onlyonce.store.memory=true", "onlyonce.store.sqlite=entries.db"),
                "Both onlyonce.store.memory and onlyonce.store.sqlite",
                "Leave one");
    }

    @Test
    @DisplayName("onlyonce.store.url keeps them in Redis, sealed, although there is a database")
    void redis() {
        try (RedisServer server = RedisServer.start()) {
            sql.withPropertyValues(
                            "onlyonce.store.url=" + server.url(),
                            "onlyonce.store.audit=exceptions",
                            "onlyonce.encryption.current=1",
                            "onlyonce.encryption.keys.1=MDEyMzQ1Njc4OWFiY2RlZg==")
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        assertThat(context.getBean(Store.class).isSealing()).isTrue();
                        assertThat(context.getBean(Store.class)).isNotInstanceOf(SqlStore.class);
                        assertThat(server.command("EXISTS", "onlyonce:{0}:own-records"))
                                .isEqualTo(":1");
                    });
            refuses(
                    runner.withPropertyValues("onlyonce.store.url=" + server.url() + "?evict=no"),
                    "\"evict=no\" is not a setting of the Redis store",
                    "onlyonce.store.url");
            refuses(
                    runner.withPropertyValues("onlyonce.store.url=" + server.url(), "onlyonce.store.sqlite=entries.db"),
                    "Both onlyonce.store.sqlite and onlyonce.store.url",
                    "Leave one");
        }
    }

    @Test
    @DisplayName(
            "onlyonce.store=redis keeps them in the Redis of spring.data.redis, by URL or by host, with its password")
    void dataRedis() {
        try (RedisServer server = RedisServer.start("requirepass secret-1")) {
            for (String[] described : new String[][] {
                {"spring.data.redis.url=redis://:secret-1@127.0.0.1:" + server.port()},
                {
                    "spring.data.redis.host=127.0.0.1",
                    "spring.data.redis.port=" + server.port(),
                    "spring.data.redis.password=secret-1"
                }
            }) {
                sql.withPropertyValues("onlyonce.store=redis")
                        .withPropertyValues(described)
                        .run(context -> {
                            assertThat(context).hasNotFailed();
                            assertThat(context.getBean(Store.class)).isNotInstanceOf(SqlStore.class);
                        });
            }
            refuses(
                    runner.withPropertyValues(
                            "onlyonce.store=redis",
                            "spring.data.redis.host=127.0.0.1",
                            "spring.data.redis.port=" + server.port(),
                            "spring.data.redis.password=wrong-2"),
                    "WRONGPASS",
                    "Check spring.data.redis");
        }
    }

    @Test
    @DisabledIfSystemProperty(
            named = DynamoDbServer.PROPERTY,
            matches = "false",
            disabledReason = "-Ddynamodb.local=false")
    @DisplayName("onlyonce.store.url keeps them in DynamoDB, and says so when its table cannot be used")
    void dynamoDb() {
        try (DynamoDbServer server = DynamoDbServer.start()) {
            String url = "dynamodb:starter?region=eu-central-1&timeout=10s&endpoint=" + server.endpoint();
            sql.withPropertyValues(
                            "onlyonce.store.url=" + url,
                            "onlyonce.store.user=local",
                            "onlyonce.store.password=very-secret")
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        assertThat(context.getBean(Store.class).schemaVersion()).isEqualTo(1);
                        assertThat(context.getBean(Store.class)).isNotInstanceOf(SqlStore.class);
                    });
            refuses(
                    runner.withPropertyValues("onlyonce.store.url=dynamodb:starter?region=Frankfurt"),
                    "\"region=Frankfurt\" is not a setting of the DynamoDB store",
                    "onlyonce.store.url");
        }
    }

    @Test
    @DisabledIfSystemProperty(
            named = DynamoDbServer.PROPERTY,
            matches = "false",
            disabledReason = "-Ddynamodb.local=false")
    @DisplayName(
            "onlyonce.store=dynamodb keeps them in the DynamoDB of spring.cloud.aws, with its credentials and table names")
    void cloudAws() {
        try (DynamoDbServer server = DynamoDbServer.start()) {
            String[] credentials = {
                "spring.cloud.aws.region.static=eu-central-1",
                "spring.cloud.aws.credentials.access-key=local",
                "spring.cloud.aws.credentials.secret-key=very-secret"
            };
            for (String endpoint : new String[] {"spring.cloud.aws.endpoint=", "spring.cloud.aws.dynamodb.endpoint="}) {
                sql.withPropertyValues(credentials)
                        .withPropertyValues("onlyonce.store=dynamodb", endpoint + server.endpoint())
                        .run(context -> {
                            assertThat(context).hasNotFailed();
                            assertThat(context.getBean(Store.class)).isNotInstanceOf(SqlStore.class);
                        });
            }
            refuses(
                    runner.withPropertyValues(credentials)
                            .withPropertyValues(
                                    "spring.cloud.aws.endpoint=http://127.0.0.1:1",
                                    "spring.cloud.aws.dynamodb.endpoint=" + server.endpoint(),
                                    "spring.cloud.aws.dynamodb.table-prefix=test-",
                                    "onlyonce.store.dynamodb=true",
                                    "onlyonce.store.schema=validate"),
                    "cannot be kept in dynamodb:test-onlyonce?region=eu-central-1&endpoint=" + server.endpoint(),
                    "Check spring.cloud.aws");
            refuses(
                    runner.withPropertyValues(credentials)
                            .withPropertyValues(
                                    "onlyonce.store=dynamodb", "spring.cloud.aws.credentials.profile.name=other"),
                    "spring.cloud.aws.credentials.profile.name is set",
                    "AWS_PROFILE");
        }
    }

    @Test
    @DisplayName("E2 what a store may lose by its owner's decision is a detail of the health, which stays up")
    void acceptedRisks() {
        try (RedisServer server = RedisServer.start("appendonly no")) {
            runner.withPropertyValues("onlyonce.store.url=" + server.url() + "?acceptDataLoss=true")
                    .run(context -> {
                        var health = new OnlyonceHealth(context.getBean(Onlyonce.class), context.getBean(Store.class));
                        assertThat(health.check().trouble()).isNull();
                        assertThat(String.valueOf(health.check().details().get("acceptedRisks")))
                                .contains("set appendonly to yes");
                    });
        }
    }

    @Test
    @DisplayName("D9 a store that can be read but not written to is down, with the reason")
    void unwritable() {
        try (RedisServer server = RedisServer.start()) {
            runner.withPropertyValues("onlyonce.store.url=" + server.url()).run(context -> {
                var health = new OnlyonceHealth(context.getBean(Onlyonce.class), context.getBean(Store.class));
                assertThat(health.check().trouble()).isNull();
                server.command("CONFIG", "SET", "maxmemory", "1");
                assertThat(health.check().trouble()).isNotNull();
                assertThat(String.valueOf(health.check().trouble())).contains("maxmemory");
            });
        }
    }

    @Test
    @Tag("thorough")
    @DisplayName("onlyonce.store.url keeps them in Cassandra")
    void cassandra() {
        try (CassandraCluster cluster = CassandraCluster.start(1)) {
            runner.withPropertyValues("onlyonce.store.url=" + cluster.url("starter") + "?replication=1")
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        assertThat(context.getBean(Store.class).schemaVersion()).isEqualTo(1);
                    });
            refuses(
                    runner.withPropertyValues("onlyonce.store.url=" + cluster.url("starter") + "?retries=3"),
                    "\"retries=3\" is not a setting of the Cassandra store",
                    "onlyonce.store.url");
            // The keyspace is there now; a new one would want three nodes.
            InetSocketAddress server = cluster.servers().get(0).address();
            runner.withPropertyValues(
                            "onlyonce.store=cassandra",
                            "spring.cassandra.contact-points=" + server.getHostString(),
                            "spring.cassandra.port=" + server.getPort(),
                            "spring.cassandra.local-datacenter=datacenter1",
                            "spring.cassandra.keyspace-name=starter")
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        assertThat(context.getBean(Store.class).schemaVersion()).isEqualTo(1);
                    });
        }
    }

    @Test
    @DisplayName(
            "onlyonce.store=cassandra knows the servers, the data centre and TLS of spring.cassandra, and no SSL bundles")
    void springCassandra() {
        refuses(
                runner.withPropertyValues(
                        "onlyonce.store=cassandra",
                        "spring.cassandra.contact-points=127.0.0.1:1,127.0.0.1",
                        "spring.cassandra.port=2",
                        "spring.cassandra.local-datacenter=dc1",
                        "spring.cassandra.username=app",
                        "spring.cassandra.password=very-secret",
                        "spring.cassandra.ssl.enabled=true"),
                "cannot be kept in cassandra://127.0.0.1:1,127.0.0.1:2?dc=dc1&tls=true: ",
                "Check spring.cassandra");
        refuses(
                runner.withPropertyValues("onlyonce.store=cassandra", "spring.cassandra.ssl.bundle=mine"),
                "spring.cassandra.ssl.bundle is set",
                "ca=/path/ca.pem");
        refuses(
                runner.withPropertyValues("onlyonce.store.cassandra=true", "onlyonce.store.dynamodb=true"),
                "Both onlyonce.store.dynamodb and onlyonce.store.cassandra",
                "Leave one");
    }

    @Test
    @DisplayName(
            "onlyonce.store=redis knows the Sentinels, the cluster and TLS of spring.data.redis, and no other database")
    void dataRedisKinds() {
        refuses(
                runner.withPropertyValues(
                        "onlyonce.store=redis",
                        "spring.data.redis.sentinel.master=payments",
                        "spring.data.redis.sentinel.nodes=127.0.0.1:1,127.0.0.1:2"),
                "cannot be kept in redis-sentinel://127.0.0.1:1,127.0.0.1:2#payments",
                "spring.data.redis");
        refuses(
                runner.withPropertyValues(
                        "onlyonce.store=redis",
                        "spring.data.redis.ssl.enabled=true",
                        "spring.data.redis.cluster.nodes=127.0.0.1:1,127.0.0.1:2"),
                "cannot be kept in rediss://127.0.0.1:1,127.0.0.1:2",
                "spring.data.redis");
        refuses(
                runner.withPropertyValues("onlyonce.store=redis", "spring.data.redis.database=3"),
                "spring.data.redis.database is 3",
                "onlyonce.store.url");
    }

    @Test
    @DisplayName("E2 a store that cannot be reached, or whose module is missing, is named without its password")
    void unopened() {
        refuses(
                runner.withPropertyValues("onlyonce.store.url=redis://:secret@127.0.0.1:1"),
                "cannot be kept in redis://***@127.0.0.1:1: ",
                "can be reached");
        refuses(
                runner.withPropertyValues("onlyonce.store.url=etcd://:secret@127.0.0.1"),
                "No store on the class path opens onlyonce.store.url=etcd://***@127.0.0.1",
                "Add the module");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ";MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE"})
    @DisplayName("W1 the application's H2 database keeps them, and they take part in its transactions")
    void h2(String mode) {
        DataSource h2 = new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=5" + mode);
        runner.withBean(DataSource.class, () -> h2)
                .withBean(PlatformTransactionManager.class, () -> new DataSourceTransactionManager(h2))
                .run(context -> {
                    assertThat(context).hasNotFailed().hasSingleBean(TransactionalWay.class);
                    assertThat(context.getBean(Store.class))
                            .isInstanceOfSatisfying(
                                    SqlStore.class,
                                    store -> assertThat(store.isIn(h2)).isTrue());
                });
    }

    @Test
    @DisplayName("E2 a database that is not supported is named, with what is, and memory for tests")
    void unsupported() {
        DataSource hsqldb = new DriverManagerDataSource("jdbc:hsqldb:mem:" + UUID.randomUUID());
        refuses(
                runner.withBean(DataSource.class, () -> hsqldb),
                "the database is HSQL Database Engine",
                "In tests, onlyonce.store=memory needs no database");
        runner.withBean(DataSource.class, () -> hsqldb)
                .withPropertyValues("onlyonce.store=memory")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    @DisplayName("Without a DataSource and without SQLite's driver the message names both, and the setting")
    void noDriver() {
        refuses(
                runner.withClassLoader(new FilteredClassLoader("org.sqlite")).withUserConfiguration(Guarded.class),
                "a SQLite file, because there is no DataSource: SQLite's driver is not on the class path",
                "Add the dependency org.xerial:sqlite-jdbc; onlyonce.store.sqlite names the file");
    }

    /** Needs a store. */
    @RestController
    static class Guarded {
        @Idempotent
        @PostMapping("/guarded")
        String guarded() {
            return "guarded";
        }
    }

    @Test
    @DisplayName("onlyonce.store.url opens an SQL database in a pool of its own, as an application with R2DBC needs it")
    void ownDataSource() {
        runner.withPropertyValues("onlyonce.store.url=jdbc:h2:mem:own" + System.nanoTime() + ";DB_CLOSE_DELAY=-1")
                .run(context -> {
                    assertThat(context).hasNotFailed().doesNotHaveBean(DataSource.class);
                    assertThat(context.getBean(Store.class)).isInstanceOf(SqlStore.class);
                    context.getBean(Store.class).checkWritable();
                });
        refuses(
                runner.withPropertyValues("onlyonce.store.url=jdbc:nobody://127.0.0.1/x"),
                "onlyonce.store.url",
                "JDBC driver");
    }
}
