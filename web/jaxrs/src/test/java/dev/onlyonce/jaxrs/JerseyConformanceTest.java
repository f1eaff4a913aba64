package dev.onlyonce.jaxrs;

import com.sun.net.httpserver.HttpServer;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.testkit.http.HttpConformance;
import dev.onlyonce.testservers.PostgresServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.glassfish.jersey.jdkhttp.JdkHttpHandlerContainer;
import org.glassfish.jersey.server.ContainerFactory;
import org.glassfish.jersey.server.ResourceConfig;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.postgresql.ds.PGSimpleDataSource;

@DisplayName("Jersey in the JDK's server, with PostgreSQL")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Execution(ExecutionMode.CONCURRENT)
class JerseyConformanceTest extends HttpConformance implements EndsContract {
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private SqlStore store;
    private Onlyonce once;
    private HttpServer server;

    @BeforeAll
    void start() throws IOException {
        PGSimpleDataSource database = new PGSimpleDataSource();
        database.setUrl(PostgresServer.shared().createDatabase());
        store = SqlStore.open(database);
        once = Onlyonce.builder(store).build();
        ResourceConfig config = new ResourceConfig(ConformanceResources.classes())
                .register(new Ends.Mapper())
                .register(ConformanceResources.feature(once));
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", ContainerFactory.createContainer(JdkHttpHandlerContainer.class, config));
        server.start();
    }

    @AfterAll
    void stop() {
        server.stop(0);
        threads.shutdownNow();
        once.close();
        store.close();
    }

    @Override
    public URI base() {
        return URI.create("http://localhost:" + server.getAddress().getPort());
    }

    @Override
    protected String authorization(String tenant) {
        return ConformanceResources.authorization(tenant);
    }
}
