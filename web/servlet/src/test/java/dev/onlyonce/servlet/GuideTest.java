package dev.onlyonce.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.Operation;
import dev.onlyonce.http.Profile;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Time;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterRegistration;
import jakarta.servlet.ServletContext;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.Serial;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The guide for servlet applications")
class GuideTest {
    private static final Pattern JAVA = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL);
    private static final Path SOURCE = Path.of("src", "test", "java", "dev", "onlyonce", "servlet", "GuideTest.java");

    private final Time time = Time.system();
    private final AtomicInteger runs = new AtomicInteger();

    /** Stands for the database, which this module does not know. */
    private static final class SqlStore {
        static Store open(Time dataSource) {
            return new MemoryStore(dataSource);
        }
    }

    private OnlyonceFilter filter(Time dataSource) {
        Onlyonce once = Onlyonce.builder(SqlStore.open(dataSource)).build();
        Boundary boundary = Boundary.builder(once)
                .operation(Operation.builder("POST", "/payments").build())
                .operation(Operation.builder("POST", "/payments/{id}/refund")
                        .profile(Profile.strict())
                        .build())
                .build();
        OnlyonceFilter filter = OnlyonceFilter.builder(boundary)
                .tenants(request -> request.getRemoteUser())
                .errorPath("/error")
                .build();
        return filter;
    }

    private static void register(ServletContext context, OnlyonceFilter filter) {
        FilterRegistration.Dynamic registration = context.addFilter("onlyonce", filter);
        registration.setAsyncSupported(true);
        registration.addMappingForUrlPatterns(EnumSet.of(DispatcherType.REQUEST, DispatcherType.ASYNC), true, "/*");
    }

    @Test
    @DisplayName("shows only code that is compiled and run here")
    void onlyWhatRuns() throws IOException {
        String source = squeezed(Files.readString(SOURCE));
        Matcher code = JAVA.matcher(
                Files.readString(Path.of(System.getProperty("onlyonce.root"), "docs", "guides", "servlet.md")));
        int blocks = 0;
        while (code.find()) {
            assertThat(source).contains(squeezed(code.group(1)));
            blocks++;
        }
        assertThat(blocks).isEqualTo(2);
    }

    private static String squeezed(String code) {
        return code.replaceAll("\\s", "");
    }

    @Test
    @DisplayName("R1 shows a filter that works: two requests, one payment")
    void works() throws Exception {
        Server server = new Server(0);
        ServletContextHandler context = new ServletContextHandler();
        context.addServletContainerInitializer((classes, servletContext) -> {
            FilterRegistration.Dynamic login = servletContext.addFilter(
                    "login", (request, response, chain) -> chain.doFilter(asMary(request), response));
            login.addMappingForUrlPatterns(EnumSet.of(DispatcherType.REQUEST), true, "/*");
            register(servletContext, filter(time));
        });
        context.addServlet(new ServletHolder(new Payments(runs)), "/payments");
        server.setHandler(context);
        server.start();
        try {
            int port = ((ServerConnector) server.getConnectors()[0]).getLocalPort();
            HttpRequest payment = HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/payments"))
                    .header("Idempotency-Key", "8e03978e-40d5")
                    .POST(BodyPublishers.noBody())
                    .build();
            HttpClient client = HttpClient.newHttpClient();
            HttpResponse<String> first = client.send(payment, BodyHandlers.ofString());
            HttpResponse<String> second = client.send(payment, BodyHandlers.ofString());
            assertThat(first.body()).isEqualTo("paid 1");
            assertThat(second.body()).isEqualTo("paid 1");
            assertThat(second.headers().firstValue("Idempotent-Replayed")).hasValue("true");
        } finally {
            server.stop();
            time.close();
        }
    }

    private static HttpServletRequest asMary(jakarta.servlet.ServletRequest request) {
        return new HttpServletRequestWrapper((HttpServletRequest) request) {
            @Override
            public String getRemoteUser() {
                return "mary";
            }
        };
    }

    private static final class Payments extends HttpServlet {
        @Serial
        private static final long serialVersionUID = 1;

        private final transient AtomicInteger runs;

        Payments(AtomicInteger runs) {
            this.runs = runs;
        }

        @Override
        protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
            response.getWriter().print("paid " + runs.incrementAndGet());
        }
    }
}
