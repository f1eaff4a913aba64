package dev.onlyonce.spring.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Event;
import dev.onlyonce.Listener;
import dev.onlyonce.Way;
import dev.onlyonce.servlet.TenantResolver;
import dev.onlyonce.spring.Idempotent;
import dev.onlyonce.testservers.MariaDbServer;
import dev.onlyonce.testservers.PostgresServer;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.EmptyResultDataAccessException;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** PostgreSQL takes no statement after one that failed, so nothing can be recorded in that transaction any more. */
@DisplayName("A transactional handler whose write the database refuses")
class RefusalTest {
    @TempDir
    static Path folder;

    private final String id = UUID.randomUUID().toString();
    private RunningSample app;

    private enum Database {
        POSTGRESQL,
        MARIADB,
        SQLITE,
        H2;

        String url() {
            return switch (this) {
                case POSTGRESQL -> PostgresServer.shared().createDatabase();
                case MARIADB -> MariaDbServer.shared().createDatabase();
                case SQLITE ->
                    "jdbc:sqlite:" + folder.resolve("entries.db")
                            + "?journal_mode=WAL&synchronous=FULL&busy_timeout=5000";
                case H2 -> "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=5";
            };
        }
    }

    private void start(Database database) {
        // One new key, and one at a time: recording a refusal must not need an allowance of its own.
        app = new RunningSample(
                RefusalApp.class, database.url(), "--onlyonce.limits.live-max=1", "--spring.jpa.open-in-view=false");
    }

    @AfterEach
    void stop() {
        app.close();
    }

    private int runs() {
        return app.bean(RefusalApp.class).runs.get();
    }

    private long rows(String of) {
        Long rows = app.bean(JdbcTemplate.class)
                .queryForObject("SELECT COUNT(*) FROM booking WHERE id = ?", Long.class, of);
        return rows == null ? 0 : rows;
    }

    private void assertRecorded(String path, int status) {
        int before = runs();
        String key = UUID.randomUUID().toString();
        HttpResponse<String> first = app.post(path + "?id=" + id, key, "{}");
        assertThat(first.statusCode()).as(path).isEqualTo(status);
        assertThat(RunningSample.isReplay(first)).isFalse();
        HttpResponse<String> retry = app.post(path + "?id=" + id, key, "{}");
        assertThat(retry.statusCode()).as(path).isEqualTo(status);
        assertThat(RunningSample.isReplay(retry)).as(path).isTrue();
        assertThat(retry.body()).isEqualTo(first.body());
        assertThat(runs() - before).as(path).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("R2 D5 its refusal is recorded and replayed, whoever catches the exception, and its writes are undone")
    void recorded(Database database) {
        start(database);
        app.bean(JdbcTemplate.class).update("INSERT INTO booking (id) VALUES (?)", id);
        assertRecorded("/annotated", 409);
        assertRecorded("/explicit", 409);
        assertRecorded("/missing", 404);
        assertThat(rows("before-" + id)).isZero();
        assertRecorded("/caught", 409);
        assertThat(rows(id)).isEqualTo(1);
    }

    @Test
    @DisplayName("D5 a success that PostgreSQL has undone is none: 500, the retry runs, and a method of a bean throws")
    void success() {
        start(Database.POSTGRESQL);
        app.bean(JdbcTemplate.class).update("INSERT INTO booking (id) VALUES (?)", id);
        for (int run = 1; run <= 2; run++) {
            assertThat(app.post("/swallowed?id=" + id, "k", "{}").statusCode()).isEqualTo(500);
            assertThat(runs()).isEqualTo(run);
        }
        RefusalApp.Bookings bookings = app.bean(RefusalApp.Bookings.class);
        assertThatThrownBy(() -> bookings.swallowed(id)).isInstanceOf(UnexpectedRollbackException.class);
        assertThat(rows("before-" + id)).isZero();
    }

    @Test
    @DisplayName("S1 a store that fails in the application's transaction is counted")
    void counted() {
        start(Database.POSTGRESQL);
        app.bean(JdbcTemplate.class).execute("DROP TABLE onlyonce_entry CASCADE");
        assertThat(app.post("/annotated?id=" + id, "k", "{}").statusCode()).isEqualTo(503);
        assertThat(app.bean(RefusalApp.class).storeFailures).hasPositiveValue();
        assertThat(runs()).isZero();
    }

    /** Handlers whose writes break a constraint, and an advice that answers for it, as most applications have. */
    @SampleApplication
    @Import({RefusalApp.Bookings.class, RefusalApp.Handlers.class, RefusalApp.Advice.class})
    static class RefusalApp {
        final AtomicInteger runs = new AtomicInteger();
        final AtomicInteger storeFailures = new AtomicInteger();

        @Bean
        TenantResolver tenants() {
            return request -> "acme";
        }

        @Bean
        Listener failures() {
            return event -> {
                // Background work meets the same failure, on threads of its own.
                if (event instanceof Event.StoreFailed
                        && Thread.currentThread().getName().startsWith("http-")) {
                    storeFailures.incrementAndGet();
                }
            };
        }

        static class Bookings {
            private final JdbcTemplate jdbc;

            Bookings(JdbcTemplate jdbc) {
                this.jdbc = jdbc;
                jdbc.execute("CREATE TABLE IF NOT EXISTS booking (id VARCHAR(100) PRIMARY KEY)");
            }

            /** Not transactional itself: nobody marks the transaction for rollback. */
            void book(String id) {
                jdbc.update("INSERT INTO booking (id) VALUES (?)", "before-" + id);
                jdbc.update("INSERT INTO booking (id) VALUES (?)", id);
            }

            @Idempotent(key = "#id")
            @Transactional
            public String swallowed(String id) {
                try {
                    book(id);
                } catch (DataAccessException swallowed) {
                    return "there already";
                }
                return "booked";
            }
        }

        @RestController
        static class Handlers {
            private final Bookings bookings;
            private final RefusalApp app;

            Handlers(Bookings bookings, RefusalApp app) {
                this.bookings = bookings;
                this.app = app;
            }

            @PostMapping("/annotated")
            @Idempotent
            @Transactional
            public String annotated(@RequestParam String id) {
                app.runs.incrementAndGet();
                bookings.book(id);
                return "booked";
            }

            @PostMapping("/explicit")
            @Idempotent(way = Way.TRANSACTIONAL)
            public String explicit(@RequestParam String id) {
                app.runs.incrementAndGet();
                bookings.book(id);
                return "booked";
            }

            @PostMapping("/missing")
            @Idempotent
            @Transactional
            public String missing(@RequestParam String id) {
                app.runs.incrementAndGet();
                try {
                    bookings.book(id);
                } catch (DataAccessException e) {
                    throw new EmptyResultDataAccessException("no such thing", 1, e);
                }
                return "booked";
            }

            @PostMapping("/caught")
            @Idempotent
            @Transactional
            public ResponseEntity<String> caught(@RequestParam String id) {
                int run = app.runs.incrementAndGet();
                try {
                    bookings.book(id);
                } catch (DataAccessException e) {
                    return ResponseEntity.status(409).body("there already, run " + run);
                }
                return ResponseEntity.ok("booked");
            }

            @PostMapping("/swallowed")
            @Idempotent
            @Transactional
            public String swallowed(@RequestParam String id) {
                app.runs.incrementAndGet();
                try {
                    bookings.book(id);
                } catch (DataAccessException swallowed) {
                    // As if it did not matter.
                }
                return "booked";
            }
        }

        @RestControllerAdvice
        static class Advice {
            /** Spring knows no error codes of SQLite, so this is the type that all three databases have in common. */
            @ExceptionHandler
            ResponseEntity<String> there(DataAccessException e) {
                return ResponseEntity.status(409).body("there already");
            }

            @ExceptionHandler
            ResponseEntity<String> missing(EmptyResultDataAccessException e) {
                return ResponseEntity.status(404).body("no such thing");
            }
        }
    }
}
