package dev.onlyonce.cassandra;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Encryption;
import dev.onlyonce.store.StoreOptions;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.testservers.CassandraCluster;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is said when a store cannot be opened. */
@DisplayName("Opening a store on Cassandra")
class CassandraOpeningTest {
    private final CassandraCluster cluster = CassandraCluster.shared();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "cassandra://",
                "cassandra://a:secret@",
                "cassandra://a:secret@host:port",
                "cassandra://a:secret@host:99999",
                "cassandra://a:secret@host/Upper",
                "cassandra://a:secret@host/x;DROP",
                "cassandra://a:sec%ret@host",
                "redis://host"
            })
    @DisplayName("E2 a URL that is none is refused with the right form, without its password")
    void wrongUrls(String url) {
        assertThatThrownBy(() -> CassandraStore.builder(url))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("cassandra://user:password@host:9042")
                .hasMessageNotContaining("secret");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "dc=",
                "replication=0",
                "serial=QUORUM",
                "tls=yes",
                "ca=",
                "timeout=fast",
                "timeout=0s",
                "clockTolerance=-1s",
                "shards=0",
                "shards=257",
                "auditRetention=0s",
                "auditRetention=99999999h",
                "retries=3",
                ""
            })
    @DisplayName("E2 a setting that does not exist, or has a wrong value, is refused with those that exist")
    void wrongSettings(String setting) {
        assertThatThrownBy(() -> CassandraStore.builder("cassandra://host?" + setting))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"" + setting + "\" is not a setting of the Cassandra store")
                .hasMessageContaining("clockTolerance=10m");
    }

    @Test
    @DisplayName("with a password where settings belong does not repeat it")
    void passwordInSettings() {
        assertThatThrownBy(() -> CassandraStore.builder("cassandra://127.0.0.1/x?password=s3cret"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"password=***\"")
                .hasMessageNotContaining("s3cret")
                .hasRootCauseMessage("no such setting");
    }

    @Test
    @DisplayName("takes all settings, and credentials with any characters")
    void allSettings() {
        assertThatCode(
                        () -> CassandraStore.builder(
                                "cassandra://a:b%2F%40+@[::1]:9042,host/ks?dc=dc1&replication=5"
                                        + "&serial=LOCAL_SERIAL&tls=true&ca=/etc/ca.pem&timeout=3s&clockTolerance=0s&shards=32&auditRetention=24h"))
                .doesNotThrowAnyException();
        assertThat(CassandraUrl.of("cassandra://a:b%2F%40+@host").password()).isEqualTo("b/@+");
        assertThat(CassandraUrl.of("cassandra://host").keyspace()).isEqualTo("onlyonce");
    }

    @Test
    @DisplayName("E2 an audit without ordinary records is refused, since records prove what took place")
    void noExceptionsOnly() {
        CassandraStoreProvider provider = new CassandraStoreProvider();
        String url = "cassandra://127.0.0.1:1/ks";
        assertThatThrownBy(() -> provider.open(new StoreOptions(url, null, null, null, false, AuditLevel.EXCEPTIONS)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no audit level \"exceptions\"")
                .hasMessageContaining("auditRetention=720h");
    }

    @Test
    @DisplayName("E2 a server that is not there is named")
    void nobodyThere() {
        assertThatThrownBy(() -> CassandraStore.open("cassandra://a:secret@127.0.0.1:1/ks"))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("127.0.0.1:1")
                .hasMessageContaining("refused")
                .hasMessageNotContaining("secret");
    }

    @Test
    @DisplayName("E2 TLS to a port that does not speak it says so")
    void noTls() {
        assertThatThrownBy(() -> CassandraStore.open(cluster.url("opening") + "?tls=true"))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("over TLS (does that port speak TLS");
    }

    @Test
    @DisplayName("E2 a data centre that does not exist says that no node is there")
    void noSuchDataCentre() {
        assertThatThrownBy(() -> CassandraStore.open(cluster.url("opening") + "?dc=mars"))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("mars");
    }

    @Test
    @DisplayName("E2 a missing keyspace is named with the command that creates it, and nothing is created")
    void missing() {
        assertThatThrownBy(() -> CassandraStore.builder(cluster.url("nowhere"))
                        .create(false)
                        .build())
                .isInstanceOf(StoreRejected.class)
                .hasMessageContaining("no keyspace nowhere")
                .hasMessageContaining("onlyonce schema apply");
    }

    @Test
    @DisplayName("E2 another number of shards than the entries have is refused")
    void otherShards() {
        CassandraStore.open(cluster.url("opening")).close();
        assertThatThrownBy(() -> CassandraStore.open(cluster.url("opening") + "?shards=8"))
                .isInstanceOf(StoreRejected.class)
                .hasMessageContaining("have version 1, shards 16, but this node is set to version 1, shards 8");
    }

    @Test
    @DisplayName("E2 another order of transactions than the other nodes have is refused: operations would run twice")
    void otherOrder() {
        CassandraStore.open(cluster.url("opening")).close();
        assertThatThrownBy(() -> CassandraStore.open(cluster.url("opening") + "?serial=LOCAL_SERIAL"))
                .isInstanceOf(StoreRejected.class)
                .hasMessageContaining("ordered by SERIAL, but this node is set to LOCAL_SERIAL in datacenter1")
                .hasMessageContaining("DELETE FROM layout");
        forgetOrder();
        try {
            String local = cluster.url("opening") + "?serial=LOCAL_SERIAL";
            CassandraStore.open(local).close();
            CassandraStore.open(local).close();
            assertThatThrownBy(() -> CassandraStore.open(cluster.url("opening")))
                    .isInstanceOf(StoreRejected.class);
        } finally {
            forgetOrder();
        }
    }

    /** As its message says, with all nodes stopped. */
    private void forgetOrder() {
        try (CassandraStore store = CassandraStore.open(Keyspaces.transactions())) {
            store.session()
                    .execute(SimpleStatement.newInstance("DELETE FROM opening.layout WHERE name = 'serial' IF EXISTS")
                            .setConsistencyLevel(ConsistencyLevel.QUORUM));
        }
    }

    @Test
    @DisplayName(
            "E2 a keyspace that does not write to disk, forgets by itself, or has lost a table, is refused; one with few replicas is used, and reports the risk")
    void risks() {
        try (CassandraStore store = CassandraStore.open(cluster.url("damaged") + "?replication=1")) {
            assertThat(store.acceptedRisks()).singleElement().asString().contains("1 replicas in datacenter1");
            store.checkWritable();
            assertThat(store.schemaVersion()).isEqualTo(1);
            define(store, "ALTER KEYSPACE damaged WITH durable_writes = false");
        }
        assertThatThrownBy(() -> CassandraStore.open(cluster.url("damaged")))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("durable_writes = true");
        try (CassandraStore store = CassandraStore.open(cluster.url("opening"))) {
            define(store, "ALTER KEYSPACE damaged WITH durable_writes = true");
            define(store, "ALTER TABLE damaged.due WITH default_time_to_live = 86400");
        }
        assertThatThrownBy(() -> CassandraStore.open(cluster.url("damaged")))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("ALTER TABLE damaged.due WITH default_time_to_live = 0");
        try (CassandraStore store = CassandraStore.open(cluster.url("opening"))) {
            define(store, "DROP TABLE damaged.listed");
        }
        assertThatThrownBy(() -> CassandraStore.builder(cluster.url("damaged"))
                        .create(false)
                        .build())
                .isInstanceOf(StoreRejected.class)
                .hasMessageContaining("no table listed")
                .hasMessageContaining("onlyonce schema apply");
        try (CassandraStore store = CassandraStore.open(cluster.url("opening"))) {
            assertThat(store.acceptedRisks()).isEmpty();
        }
    }

    @Test
    @DisplayName("with encryption seals results before they leave for Cassandra")
    void sealed() {
        Encryption encryption = Encryption.with(1, "0123456789abcdef".getBytes(StandardCharsets.UTF_8));
        ClaimRequest claim = Calls.claim("sealed");
        try (CassandraStore store = CassandraStore.builder(cluster.url("opening"))
                .encryption(encryption)
                .build()) {
            assertThat(store.isSealing()).isTrue();
            store.claim(List.of(claim));
            store.settle(List.of(Calls.completed(claim)));
            assertThat(store.find(List.of(claim.id())).get(0).orElseThrow().result())
                    .isEqualTo("sealed".getBytes(StandardCharsets.UTF_8));
            byte[] stored = bytes(store.session());
            assertThat(Encryption.isSealed(stored)).isTrue();
        }
    }

    private static void define(CassandraStore store, String statement) {
        store.session().execute(SimpleStatement.newInstance(statement).setTimeout(Duration.ofMinutes(1)));
    }

    private static byte[] bytes(CqlSession session) {
        var buffer = session.execute("SELECT result FROM entry WHERE tenant = 'acme' AND scope = '' AND key = 'sealed'")
                .one()
                .getByteBuffer("result");
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes;
    }
}
