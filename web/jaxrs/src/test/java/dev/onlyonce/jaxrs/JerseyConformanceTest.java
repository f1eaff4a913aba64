package dev.onlyonce.jaxrs;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.store.Time;
import dev.onlyonce.testkit.http.HttpConformance;
import dev.onlyonce.testservers.PostgresServer;
import jakarta.ws.rs.container.ContainerResponseFilter;
import java.io.IOException;
import java.net.URI;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.glassfish.grizzly.http.server.HttpServer;
import org.glassfish.grizzly.threadpool.ThreadPoolConfig;
import org.glassfish.jersey.grizzly2.httpserver.GrizzlyHttpServerFactory;
import org.glassfish.jersey.server.ResourceConfig;
import org.glassfish.jersey.server.ServerProperties;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@DisplayName("Jersey in Grizzly, with PostgreSQL")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Execution(ExecutionMode.CONCURRENT)
class JerseyConformanceTest extends HttpConformance implements EndsContract {
    private static final int THREADS = 64;
    private static final DateTimeFormatter DATE = DateTimeFormatter.ofPattern(
                    "EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US)
            .withZone(ZoneOffset.UTC);

    private final Time time = Time.system();

    private HikariDataSource database;
    private SqlStore store;
    private Onlyonce once;
    private HttpServer server;

    @BeforeAll
    void start() throws IOException {
        database = new HikariDataSource();
        database.setJdbcUrl(PostgresServer.shared().createDatabase());
        store = SqlStore.open(database);
        once = Onlyonce.builder(store).build();
        ResourceConfig config = new ResourceConfig(ConformanceResources.classes())
                .register(new Ends.Mapper())
                .register(ConformanceResources.feature(once))
                .register(
                        // Grizzly sends none, and the suite reads the server's clock from it.
                        (ContainerResponseFilter)
                                (request, response) -> response.getHeaders().putSingle("Date", DATE.format(time.now())),
                        1)
                .property(ServerProperties.LOCATION_HEADER_RELATIVE_URI_RESOLUTION_DISABLED, true);
        server = GrizzlyHttpServerFactory.createHttpServer(URI.create("http://localhost:0/"), config, false);
        // Handlers of the suite wait for one another.
        server.getListener("grizzly")
                .getTransport()
                .setWorkerThreadPoolConfig(ThreadPoolConfig.defaultConfig()
                        .setCorePoolSize(THREADS)
                        .setMaxPoolSize(THREADS));
        server.getServerConfiguration().setAllowPayloadForUndefinedHttpMethods(true);
        server.start();
    }

    @AfterAll
    void stop() {
        server.shutdownNow();
        once.close();
        time.close();
        store.close();
        database.close();
    }

    @Override
    public URI base() {
        return URI.create("http://localhost:" + server.getListener("grizzly").getPort());
    }

    @Override
    protected String authorization(String tenant) {
        return ConformanceResources.authorization(tenant);
    }
}
