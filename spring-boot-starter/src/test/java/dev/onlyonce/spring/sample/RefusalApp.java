package dev.onlyonce.spring.sample;

import dev.onlyonce.Event;
import dev.onlyonce.Listener;
import dev.onlyonce.servlet.TenantResolver;
import dev.onlyonce.spring.Idempotent;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.EmptyResultDataAccessException;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** Handlers whose writes break a constraint, and an advice that answers for it, as most applications have. */
@SpringBootConfiguration
@EnableAutoConfiguration(
        excludeName = {
            "org.springframework.boot.jetty.autoconfigure.servlet.JettyServletWebServerAutoConfiguration",
            "org.springframework.boot.security.autoconfigure.SecurityAutoConfiguration",
            "org.springframework.boot.security.autoconfigure.UserDetailsServiceAutoConfiguration",
            "org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration",
            "org.springframework.boot.security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration"
        })
@Import({RefusalApp.Bookings.class, RefusalApp.Handlers.class, RefusalApp.Advice.class})
class RefusalApp {
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
        @Idempotent(way = Idempotent.Way.TRANSACTIONAL)
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
