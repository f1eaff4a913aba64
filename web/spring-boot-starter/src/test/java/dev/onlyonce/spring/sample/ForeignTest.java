package dev.onlyonce.spring.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Way;
import dev.onlyonce.servlet.TenantResolver;
import dev.onlyonce.spring.Idempotent;
import dev.onlyonce.spring.Unprotected;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.store.Store;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;
import org.springframework.dao.EmptyResultDataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.stereotype.Controller;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.filter.UrlHandlerFilter;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.View;

@DisplayName("A Spring application with habits of its own")
class ForeignTest {
    @TempDir
    static Path folder;

    private final String key = UUID.randomUUID().toString();
    private @Nullable RunningSample app;

    private RunningSample start(String... properties) {
        RunningSample started = new RunningSample(
                ForeignApp.class, "jdbc:sqlite:" + folder.resolve(UUID.randomUUID() + ".db"), properties);
        app = started;
        return started;
    }

    @AfterEach
    void stop() {
        if (app != null) {
            app.close();
        }
    }

    private static int runs(RunningSample of) {
        return of.bean(ForeignApp.class).runs.get();
    }

    @ParameterizedTest
    @ValueSource(strings = {"false", "true"})
    @DisplayName("R2 an answer that cannot be written after the handler has returned proves nothing: unknown")
    void unwritable(String problemDetails) {
        RunningSample of = start("--spring.mvc.problemdetails.enabled=" + problemDetails);
        assertThat(of.post("/unwritable", key, "{}").statusCode()).isEqualTo(500);
        HttpResponse<String> retry = of.post("/unwritable", key, "{}");
        assertThat(runs(of)).isEqualTo(1);
        assertThat(retry.statusCode()).isEqualTo(409);
        assertThat(retry.body()).contains("outcome_unknown");
    }

    @Test
    @DisplayName(
            "D4 a provider that hangs up is no client that did: the outcome is unknown, and no empty 200 is recorded")
    void providerHangsUp() {
        RunningSample of = start();
        HttpResponse<String> first = of.post("/charge", key, "{}");
        HttpResponse<String> retry = of.post("/charge", key, "{}");
        assertThat(first.statusCode() + " " + retry.statusCode()).isEqualTo("500 409");
        assertThat(retry.body()).contains("outcome_unknown");
        HttpResponse<String> stored = of.post("/stripe/charge", key + "-stripe", "{}");
        HttpResponse<String> replay = of.post("/stripe/charge", key + "-stripe", "{}");
        assertThat(stored.statusCode() + " " + replay.statusCode()).isEqualTo("500 500");
        assertThat(RunningSample.isReplay(replay)).isTrue();
        assertThat(runs(of)).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/old", "/slash/orders/"})
    @DisplayName("W7 a protected handler that is reached past the filter does not run bare")
    void pastTheFilter(String path) {
        RunningSample of = start();
        assertThat(of.post(path, key, "{}").statusCode()).isEqualTo(500);
        assertThat(runs(of)).isZero();
        assertThat(of.post("/relay", key, "{}").body()).isEqualTo("run 1");
        HttpResponse<String> replay = of.post("/relay", key, "{}");
        assertThat(replay.body()).isEqualTo("run 1");
        assertThat(RunningSample.isReplay(replay)).isTrue();
    }

    @Test
    @DisplayName("D5 what is thrown before the commit is the application's exception, and no doubt about the commit")
    void veto() {
        RunningSample of = start();
        HttpResponse<String> first = of.post("/veto", key, "{}");
        assertThat(first.statusCode()).isEqualTo(500);
        assertThat(first.headers().firstValue("Location")).isEmpty();
        assertThat(of.bean(Onlyonce.class).find(Key.of("acme", "POST /veto", key)))
                .isEmpty();
    }

    @Test
    @DisplayName("D5 an exception that an error view answers undoes the writes too")
    void viewed() {
        RunningSample of = start();
        HttpResponse<String> first = of.post("/viewed", key, "{}");
        assertThat(first.statusCode()).isEqualTo(402);
        assertThat(of.bean(JdbcTemplate.class).queryForObject("SELECT COUNT(*) FROM foreign_row", Long.class))
                .isZero();
    }

    @Test
    @DisplayName(
            "D4 a client that resets its HTTP/2 stream leaves the outcome unknown, and no empty answer in the record")
    void reset() throws Exception {
        RunningSample of = start("--server.http2.enabled=true");
        HttpClient client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).build();
        URI base = URI.create("http://localhost:" + of.port());
        HttpRequest hello = HttpRequest.newBuilder(base.resolve("/hello")).build();
        assertThat(client.send(hello, BodyHandlers.ofString()).version()).isEqualTo(HttpClient.Version.HTTP_2);
        HttpRequest charge = HttpRequest.newBuilder(base.resolve("/deferred"))
                .header("Idempotency-Key", key)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString("{}"))
                .build();
        CompletableFuture<HttpResponse<String>> first = client.sendAsync(charge, BodyHandlers.ofString());
        of.bean(ForeignApp.class).entered.await();
        first.cancel(true);
        HttpResponse<String> retry = of.post("/deferred", key, "{}");
        for (int tries = 0; retry.body().contains("in_progress") && tries < 1000; tries++) {
            retry = of.post("/deferred", key, "{}");
        }
        assertThat(retry.statusCode()).isEqualTo(409);
        assertThat(retry.body()).contains("outcome_unknown");
        assertThat(runs(of)).isEqualTo(1);
    }

    @Test
    @DisplayName(
            "W7 D9 a Store on another DataSource than the transactions': leased, said so, and not 503 to everybody")
    void twoDatabases() {
        RunningSample of = new RunningSample(TwoDatabases.class, "jdbc:sqlite:" + folder.resolve("shop.db"));
        app = of;
        assertThat(of.post("/booked", key, "{}").statusCode()).isEqualTo(200);
        assertThat(RunningSample.isReplay(of.post("/booked", key, "{}"))).isTrue();
        assertThat(of.send("GET", "/actuator/onlyonce", "").body())
                .contains("\"leasedThoughTransactional\":[\"POST /booked: the entries are not in the application's");
    }

    /** The entries have a database of their own, which is not the one of the transactions. */
    @SampleApplication
    @Import(TwoDatabases.Handlers.class)
    static class TwoDatabases {
        @Bean
        TenantResolver tenants() {
            return request -> "acme";
        }

        @Bean
        @Primary
        DataSource shop() {
            return new DriverManagerDataSource("jdbc:sqlite:" + folder.resolve("shop.db"));
        }

        @Bean
        DataSource keys() {
            return new DriverManagerDataSource("jdbc:sqlite:" + folder.resolve("keys.db")
                    + "?journal_mode=WAL&synchronous=FULL&busy_timeout=5000");
        }

        @Bean
        Store store(@Qualifier("keys") DataSource keys) {
            return SqlStore.open(keys);
        }

        @RestController
        static class Handlers {
            @Idempotent
            @Transactional
            @PostMapping("/booked")
            public String booked() {
                return "booked";
            }
        }
    }

    /** Ordinary handlers, with an advice that answers with views, and filters that rewrite paths. */
    @SampleApplication
    @Import({ForeignApp.Handlers.class, ForeignApp.Pages.class, ForeignApp.Advice.class})
    static class ForeignApp {
        final AtomicInteger runs = new AtomicInteger();
        final CountDownLatch entered = new CountDownLatch(1);
        final DeferredResult<String> deferred = new DeferredResult<>(60_000L);

        @Bean
        TenantResolver tenants() {
            return request -> "acme";
        }

        @Bean
        FilterRegistrationBean<UrlHandlerFilter> slashes() {
            return new FilterRegistrationBean<>(UrlHandlerFilter.trailingSlashHandler("/slash/**")
                    .wrapRequest()
                    .build());
        }

        static final class Declined extends RuntimeException {
            private static final long serialVersionUID = 1;
        }

        /** Jackson meets the exception when it writes. */
        public static final class Lazy {
            private final @Nullable String customer;

            Lazy(@Nullable String customer) {
                this.customer = customer;
            }

            public String getCustomer() {
                return Objects.requireNonNull(customer, "no session");
            }
        }

        @Controller
        static class Pages {
            /** Is protected itself. */
            @PostMapping("/relay")
            @Idempotent
            String relay() {
                return "forward:/new";
            }

            @PostMapping("/old")
            @Unprotected("moved")
            String old() {
                return "forward:/new";
            }
        }

        @ControllerAdvice
        static class Advice {
            @ExceptionHandler
            ModelAndView declined(Declined e) {
                View view = new View() {
                    @Override
                    public void render(
                            @Nullable Map<String, ?> model, HttpServletRequest request, HttpServletResponse response)
                            throws IOException {
                        response.setStatus(402);
                        response.getWriter().write("<p>declined</p>");
                    }
                };
                return new ModelAndView(view);
            }
        }

        @RestController
        static class Handlers {
            private final ForeignApp app;
            private final JdbcTemplate jdbc;

            Handlers(ForeignApp app, JdbcTemplate jdbc) {
                this.app = app;
                this.jdbc = jdbc;
                jdbc.execute("CREATE TABLE IF NOT EXISTS foreign_row (id VARCHAR(100) PRIMARY KEY)");
            }

            @GetMapping("/hello")
            String hello() {
                return "hello";
            }

            @PostMapping("/unwritable")
            @Idempotent
            public Lazy unwritable() {
                app.runs.incrementAndGet();
                return new Lazy(null);
            }

            /** Its provider takes the request and hangs up. */
            @PostMapping("/charge")
            @Idempotent
            public String charge() throws IOException, InterruptedException {
                return charged();
            }

            @PostMapping("/stripe/charge")
            @Idempotent(profile = "stripe")
            public String chargeAsStripe() throws IOException, InterruptedException {
                return charged();
            }

            private String charged() throws IOException, InterruptedException {
                app.runs.incrementAndGet();
                try (ServerSocket provider = new ServerSocket(0)) {
                    CompletableFuture<Void> hangsUp = CompletableFuture.runAsync(() -> {
                        try (Socket socket = provider.accept()) {
                            socket.getInputStream().read();
                            socket.getInputStream().skip(socket.getInputStream().available());
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                    });
                    URI charges = URI.create("http://localhost:" + provider.getLocalPort() + "/charges");
                    HttpRequest charge = HttpRequest.newBuilder(charges)
                            .version(HttpClient.Version.HTTP_1_1)
                            .POST(BodyPublishers.ofString("{}"))
                            .build();
                    try {
                        return HttpClient.newHttpClient()
                                .send(charge, BodyHandlers.ofString())
                                .body();
                    } finally {
                        hangsUp.join();
                    }
                }
            }

            @PostMapping("/new")
            @Idempotent
            public String moved() {
                return "run " + app.runs.incrementAndGet();
            }

            @PostMapping("/slash/orders")
            @Idempotent
            public String slash() {
                return "run " + app.runs.incrementAndGet();
            }

            @PostMapping("/veto")
            @Idempotent
            @Transactional
            public String veto(HttpServletResponse response) {
                response.setHeader("Location", "/orders/1");
                app.runs.incrementAndGet();
                TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                    @Override
                    public void beforeCommit(boolean readOnly) {
                        throw new EmptyResultDataAccessException("no stock", 1);
                    }
                });
                return "done";
            }

            @PostMapping("/viewed")
            @Idempotent(way = Way.TRANSACTIONAL)
            public String viewed() {
                app.runs.incrementAndGet();
                jdbc.update("INSERT INTO foreign_row (id) VALUES ('x')");
                throw new Declined();
            }

            @PostMapping("/deferred")
            @Idempotent
            public DeferredResult<String> deferred() {
                app.runs.incrementAndGet();
                app.entered.countDown();
                return app.deferred;
            }
        }
    }
}
