package dev.onlyonce.jaxrs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.sql.SqlStore;
import io.undertow.Undertow;
import jakarta.ws.rs.core.Application;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Set;
import java.util.UUID;
import org.jboss.resteasy.plugins.server.undertow.UndertowJaxrsServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("RESTEasy in Undertow, with SQLite")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ResteasyTest implements EndsContract {
    @TempDir
    static Path folder;

    private SqlStore store;
    private Onlyonce once;
    private Server server;
    private int port;

    @BeforeAll
    void start() {
        store = SqlStore.sqlite(folder.resolve("entries.db"));
        once = Onlyonce.builder(store).build();
        server = new Server();
        server.deploy(new App(once), "/");
        server.start(Undertow.builder().addHttpListener(0, "localhost"));
        port = server.port();
    }

    @AfterAll
    void stop() {
        server.stop();
        once.close();
        store.close();
    }

    /** Tells which port the system has chosen. */
    private static final class Server extends UndertowJaxrsServer {
        int port() {
            InetSocketAddress address =
                    (InetSocketAddress) server.getListenerInfo().get(0).getAddress();
            return address.getPort();
        }
    }

    /** With everything that the suite for Jersey has. */
    public static final class App extends Application {
        private final Onlyonce once;

        App(Onlyonce once) {
            this.once = once;
        }

        @Override
        public Set<Class<?>> getClasses() {
            return ConformanceResources.classes();
        }

        @Override
        @SuppressWarnings("deprecation")
        public Set<Object> getSingletons() {
            return Set.of(new Ends.Mapper(), ConformanceResources.feature(once));
        }
    }

    @Override
    public URI base() {
        return URI.create("http://localhost:" + port);
    }

    @Test
    @DisplayName("R1 F1 replays headers and body, and refuses another request with the key")
    void echo() throws Exception {
        String key = UUID.randomUUID().toString();
        HttpResponse<String> first = post("/ietf/echo", key, "one");
        HttpResponse<String> retry = post("/ietf/echo", key, "one");
        assertThat(first.statusCode()).isEqualTo(201);
        assertThat(retry.statusCode()).isEqualTo(201);
        assertThat(retry.body()).isEqualTo(first.body()).contains("\"run\":1");
        assertThat(retry.headers().allValues("X-Several")).containsExactly("one", "two");
        assertThat(retry.headers().firstValue("Set-Cookie")).isEmpty();
        assertThat(retry.headers().firstValue("Idempotent-Replayed")).contains("true");
        assertThat(post("/ietf/echo", key, "two").statusCode()).isEqualTo(422);
        assertThat(Effects.counted(key)).isOne();
    }

    @Test
    @DisplayName("a 5xx that a method returns frees the key, and a large response is sent and never runs again")
    void statusAndSize() throws Exception {
        String key = UUID.randomUUID().toString();
        assertThat(post("/ietf/status/500", key, "").body()).isEqualTo("run 1");
        assertThat(post("/ietf/status/500", key, "").body()).isEqualTo("run 2");
        String large = UUID.randomUUID().toString();
        assertThat(post("/ietf/large", large, "").body()).hasSize(2 << 20);
        assertThat(post("/ietf/large", large, "").body()).contains("response_not_stored");
        assertThat(Effects.counted(large)).isOne();
    }

    @Test
    @DisplayName("publishes specification and status")
    void published() throws Exception {
        assertThat(get("/.well-known/idempotency", "any").body()).contains("POST /ietf/status/{code}");
        String key = UUID.randomUUID().toString();
        post("/ietf/echo", key, "one");
        assertThat(get("/.well-known/idempotency/status", key).body()).contains("completed");
    }

    private HttpResponse<String> post(String path, String key, String body) throws Exception {
        return send(HttpRequest.newBuilder().POST(HttpRequest.BodyPublishers.ofString(body)), path, key);
    }

    private HttpResponse<String> get(String path, String key) throws Exception {
        return send(HttpRequest.newBuilder().GET(), path, key);
    }

    private HttpResponse<String> send(HttpRequest.Builder request, String path, String key) throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        request.uri(URI.create(base() + path))
                                .header("Authorization", ConformanceResources.authorization("acme"))
                                .header("Idempotency-Key", key)
                                .header("X-Effect", key)
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
    }
}
