package dev.onlyonce.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.store.StoreOptions;
import dev.onlyonce.store.StoreProvider;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.testservers.DynamoDbServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Collections;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;

/** What opening a store says when something is wrong. */
@DisplayName("Opening a DynamoDB store")
@DisabledIfSystemProperty(named = DynamoDbServer.PROPERTY, matches = "false", disabledReason = "-Ddynamodb.local=false")
class DynamoDbOpeningTest {
    private static DynamoDbServer server;

    @BeforeAll
    static void start() {
        server = DynamoDbServer.shared();
        open("present", "eu-central-1", true).close();
    }

    private static DynamoDbStore open(String table, String region, boolean create) {
        return open(table, region, create, server.endpoint());
    }

    private static DynamoDbStore open(String table, String region, boolean create, String endpoint) {
        return DynamoDbStore.builder("dynamodb:" + table + "?region=" + region + "&endpoint=" + endpoint)
                .credentials("local", "very-secret")
                .create(create)
                .build();
    }

    @Test
    @DisplayName("works through its provider, creates the table once, and writes nothing for a health check")
    void works() {
        String url = "dynamodb:provided?region=eu-central-1&endpoint=" + server.endpoint();
        StoreProvider provider = StoreProvider.of(url).orElseThrow();
        for (int i = 0; i < 2; i++) {
            try (var store = provider.open(new StoreOptions(url, "local", "local", null, true))) {
                store.checkWritable();
                assertThat(store.schemaVersion()).isEqualTo(1);
                assertThat(store.countStored(null, 10)).isZero();
            }
        }
    }

    @Test
    @DisplayName("E2 without the table, or in a region without it, says so and how to create it")
    void missing() {
        assertThatThrownBy(() -> open("absent", "eu-central-1", false))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("table absent")
                .hasMessageContaining("onlyonce schema apply");
        assertThatThrownBy(() -> open("present", "us-east-1", false))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("does not exist in this region");
    }

    @Test
    @DisplayName("E2 on a table of somebody else says what is different, and leaves it alone")
    void foreign() {
        try (DynamoDbAsyncClient client = BusinessTables.client(server.endpoint())) {
            BusinessTables.create(client, "foreign");
        }
        for (boolean create : new boolean[] {false, true}) {
            assertThatThrownBy(() -> open("foreign", "eu-central-1", create))
                    .isInstanceOf(StoreUnavailable.class)
                    .hasMessageContaining("foreign is not a table of Onlyonce");
        }
    }

    @Test
    @DisplayName("E2 on a table with keys of another type, or with TTL on another attribute, says so")
    void almost() {
        try (DynamoDbAsyncClient client = BusinessTables.client(server.endpoint())) {
            BusinessTables.createEntries(client, "almost", ScalarAttributeType.S);
            BusinessTables.createEntries(client, "other-ttl", ScalarAttributeType.B);
            client.updateTimeToLive(r -> r.tableName("other-ttl")
                            .timeToLiveSpecification(s -> s.enabled(true).attributeName("expires")))
                    .join();
        }
        assertThatThrownBy(() -> open("almost", "eu-central-1", false))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("almost is not a table of Onlyonce");
        assertThatThrownBy(() -> open("other-ttl", "eu-central-1", true))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("expires")
                .hasMessageContaining("xt");
    }

    @Test
    @DisplayName("works on several nodes that create the table at once")
    void atOnce() throws Exception {
        ExecutorService nodes = Executors.newFixedThreadPool(4);
        try {
            for (int round = 0; round < 5; round++) {
                String table = "shared-" + round;
                Callable<DynamoDbStore> node = () -> open(table, "eu-central-1", true);
                for (var opened : nodes.invokeAll(Collections.nCopies(4, node))) {
                    opened.get().close();
                }
            }
        } finally {
            nodes.shutdownNow();
        }
    }

    @Test
    @DisplayName("E2 with half of the credentials does not fall back to those of the environment")
    void halfCredentials() {
        String url = "dynamodb:present?region=eu-central-1&endpoint=" + server.endpoint();
        StoreProvider provider = StoreProvider.of(url).orElseThrow();
        assertThatThrownBy(() -> provider.open(new StoreOptions(url, "local", null, null, false)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("password");
    }

    @ParameterizedTest
    @ValueSource(strings = {"UnrecognizedClientException", "InvalidSignatureException", "ExpiredTokenException"})
    @DisplayName("E2 with credentials that are refused says so, and does not repeat them")
    void credentials(String code) {
        try (Relay relay = new Relay(server.endpoint())) {
            relay.script(step -> step.refused(code));
            assertThatThrownBy(() -> open("present", "eu-central-1", false, relay.endpoint()))
                    .isInstanceOf(StoreUnavailable.class)
                    .hasMessageContaining("refuses the credentials")
                    .hasMessageContaining(code)
                    .hasMessageNotContaining("very-secret");
            relay.script(step -> step.refused("AccessDeniedException"));
            assertThatThrownBy(() -> open("present", "eu-central-1", false, relay.endpoint()))
                    .isInstanceOf(StoreUnavailable.class)
                    .hasMessageContaining("not allowed");
        }
    }

    @Test
    @DisplayName("E2 where nobody listens says where it looked; over TLS on a server without, that it is about TLS")
    void unreachable() throws IOException {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        assertThatThrownBy(() -> open("present", "eu-central-1", false, "http://127.0.0.1:" + port))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("127.0.0.1:" + port);
        assertThatThrownBy(() -> open("present", "eu-central-1", false, "https://127.0.0.1:" + server.port()))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("TLS");
        assertThatThrownBy(() -> open("present", "eu-central-1", false, "http://no-such-host.invalid"))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("no-such-host.invalid");
    }

    @ParameterizedTest
    @ValueSource(strings = {"dynamodb:", "dynamodb://host/table", "dynamodb:a?region=eu-central-1", "redis://x"})
    @DisplayName("with a URL that is none says what one looks like")
    void malformed(String url) {
        assertThatThrownBy(() -> DynamoDbStore.open(url))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("dynamodb:table?region=eu-central-1");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "region=Frankfurt",
                "timeout=",
                "timeout=0s",
                "timeout=0.0001s",
                "timeout=2h",
                "audit=some",
                "endpoint=127.0.0.1",
                "x=y",
                ""
            })
    @DisplayName("with a setting in its URL that does not exist says which there are")
    void settings(String setting) {
        assertThatThrownBy(() -> DynamoDbStore.builder("dynamodb:onlyonce?" + setting))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"" + setting + "\"")
                .hasMessageContaining("audit=exceptions");
    }

    @Test
    @DisplayName("with a secret in its URL does not repeat it")
    void secretInUrl() {
        assertThatThrownBy(() -> DynamoDbStore.builder("dynamodb:onlyonce?secretAccessKey=very-secret"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("secretAccessKey")
                .hasMessageContaining("password")
                .hasMessageNotContaining("very-secret")
                .hasRootCauseMessage("secretAccessKey");
        assertThatThrownBy(() -> DynamoDbStore.builder("dynamodb:onlyonce?endpoint=http://id:very-secret@127.0.0.1"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("endpoint=http://***@127.0.0.1")
                .hasMessageNotContaining("very-secret")
                .hasRootCauseMessage("endpoint");
    }
}
