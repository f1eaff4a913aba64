package dev.onlyonce.jaxrs;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.sql.SqlStore;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Priorities;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.SecurityContext;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.security.Principal;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.glassfish.jersey.jdkhttp.JdkHttpHandlerContainer;
import org.glassfish.jersey.server.ContainerFactory;
import org.glassfish.jersey.server.ResourceConfig;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteDataSource;

@DisplayName("The guide for JAX-RS")
class JaxrsGuideTest {
    @TempDir
    java.nio.file.Path folder;

    @Path("/orders")
    public static class Orders {
        @POST
        @Idempotent
        @Produces("text/plain")
        public String order() {
            return "order " + System.nanoTime();
        }

        @POST
        @Path("/{id}/refund")
        @Idempotent(operation = "refund", profile = "strict")
        public Response refund(@PathParam("id") String id) {
            return Response.noContent().build();
        }
    }

    @Test
    @DisplayName("shows the code that this test runs")
    void shown() throws Exception {
        java.nio.file.Path root = java.nio.file.Path.of(System.getProperty("onlyonce.root"));
        String page = Files.readString(root.resolve("docs/guides/jaxrs.md"));
        String tested = Files.readString(root.resolve("web/jaxrs/src/test/java/dev/onlyonce/jaxrs/JaxrsGuideTest.java"));
        Stream<String> samples = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL)
                .matcher(page)
                .results()
                .map(sample -> sample.group(1));
        assertThat(samples)
                .hasSize(2)
                .allSatisfy(sample -> assertThat(tested).containsIgnoringWhitespaces(sample));
    }

    @Test
    @DisplayName("R1 works as shown: two requests, one order")
    void works() throws Exception {
        SQLiteConfig config = new SQLiteConfig();
        config.setJournalMode(SQLiteConfig.JournalMode.WAL);
        config.setSynchronous(SQLiteConfig.SynchronousMode.FULL);
        SQLiteDataSource dataSource = new SQLiteDataSource(config);
        dataSource.setUrl("jdbc:sqlite:" + folder.resolve("entries.db"));
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        try (Onlyonce once = serve(server, dataSource)) {
            HttpResponse<String> first = order(server);
            HttpResponse<String> retry = order(server);
            assertThat(first.body()).startsWith("order ");
            assertThat(retry.body()).isEqualTo(first.body());
            assertThat(retry.headers().firstValue("Idempotent-Replayed")).contains("true");
            assertThat(once.registry().ownPolicy("refund")).isPresent();
        } finally {
            server.stop(0);
        }
    }

    private static Onlyonce serve(HttpServer server, DataSource dataSource) {
        Onlyonce once = Onlyonce.builder(SqlStore.open(dataSource)).build();
        OnlyonceFeature feature = OnlyonceFeature.builder(once)
                .tenants(request -> request.getSecurityContext().getUserPrincipal().getName())
                .operation("refund", operation -> operation.bodyBytesMax(64 << 10))
                .build();
        ResourceConfig application = new ResourceConfig(Orders.class).register(feature);
        application.register((ContainerRequestFilter) request -> request.setSecurityContext(new Acme()),
                Priorities.AUTHENTICATION);
        server.createContext("/", ContainerFactory.createContainer(JdkHttpHandlerContainer.class, application));
        server.start();
        return once;
    }

    /** Everybody is acme. */
    private record Acme() implements SecurityContext {
        @Override
        public Principal getUserPrincipal() {
            return () -> "acme";
        }

        @Override
        public boolean isUserInRole(String role) {
            return false;
        }

        @Override
        public boolean isSecure() {
            return false;
        }

        @Override
        public String getAuthenticationScheme() {
            return BASIC_AUTH;
        }
    }

    private static HttpResponse<String> order(HttpServer server) throws Exception {
        URI uri = URI.create("http://localhost:" + server.getAddress().getPort() + "/orders");
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(uri)
                                .header("Idempotency-Key", "8e03978e-40d5")
                                .POST(HttpRequest.BodyPublishers.noBody())
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
    }
}
