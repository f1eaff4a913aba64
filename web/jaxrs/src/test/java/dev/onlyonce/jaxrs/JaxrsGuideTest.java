package dev.onlyonce.jaxrs;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.security.Principal;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.glassfish.grizzly.http.server.HttpServer;
import org.glassfish.jersey.grizzly2.httpserver.GrizzlyHttpServerFactory;
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

    private SqlStore store;
    private Onlyonce once;
    private HttpServer server;

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
        String tested =
                Files.readString(root.resolve("web/jaxrs/src/test/java/dev/onlyonce/jaxrs/JaxrsGuideTest.java"));
        Stream<String> samples = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL)
                .matcher(page)
                .results()
                .map(sample -> sample.group(1));
        assertThat(samples).hasSize(2).allSatisfy(sample -> assertThat(tested).containsIgnoringWhitespaces(sample));
    }

    @Test
    @DisplayName("R1 works as shown: two requests, one order")
    void works() throws Exception {
        SQLiteConfig config = new SQLiteConfig();
        config.setJournalMode(SQLiteConfig.JournalMode.WAL);
        config.setSynchronous(SQLiteConfig.SynchronousMode.FULL);
        SQLiteDataSource dataSource = new SQLiteDataSource(config);
        dataSource.setUrl("jdbc:sqlite:" + folder.resolve("entries.db"));
        serve(dataSource);
        try {
            HttpResponse<String> first = order();
            HttpResponse<String> retry = order();
            assertThat(first.body()).startsWith("order ");
            assertThat(retry.body()).isEqualTo(first.body());
            assertThat(retry.headers().firstValue("Idempotent-Replayed")).contains("true");
            assertThat(once.registry().ownPolicy("refund")).isPresent();
        } finally {
            server.shutdownNow();
            once.close();
            store.close();
        }
    }

    private void serve(DataSource dataSource) {
        SqlStore store = SqlStore.open(dataSource);
        Onlyonce once = Onlyonce.builder(store).build();
        OnlyonceFeature feature = OnlyonceFeature.builder(once)
                .tenants(request ->
                        request.getSecurityContext().getUserPrincipal().getName())
                .operation("refund", operation -> operation.bodyBytesMax(64 << 10))
                .build();
        ResourceConfig application = new ResourceConfig(Orders.class).register(feature);
        application.register(
                (ContainerRequestFilter) request -> request.setSecurityContext(new Acme()), Priorities.AUTHENTICATION);
        this.store = store;
        this.once = once;
        server = GrizzlyHttpServerFactory.createHttpServer(URI.create("http://localhost:0/"), application);
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

    private HttpResponse<String> order() throws Exception {
        URI uri = URI.create("http://localhost:" + server.getListener("grizzly").getPort() + "/orders");
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(uri)
                                .header("Idempotency-Key", "8e03978e-40d5")
                                .POST(HttpRequest.BodyPublishers.noBody())
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
    }
}
