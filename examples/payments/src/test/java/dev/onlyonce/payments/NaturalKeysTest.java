package dev.onlyonce.payments;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.testservers.MariaDbServer;
import dev.onlyonce.testservers.PostgresServer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** What needs no idempotency key, on every database. */
class NaturalKeysTest {
    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    abstract static class Contract {
        private PaymentsServer server;

        abstract String jdbcUrl(Path folder);

        @BeforeAll
        void start(@TempDir Path folder) {
            server = PaymentsServer.start(jdbcUrl(folder));
        }

        @AfterAll
        void stop() {
            server.close();
        }

        @Test
        @DisplayName("N1 of many simultaneous creates with one client_order_id one creates, and all get the same order")
        void orders() throws Exception {
            String body = "{\"client_order_id\":\"o-1\",\"item\":\"book\",\"quantity\":2}";
            ExecutorService threads = Executors.newFixedThreadPool(8);
            try {
                List<Future<PaymentsServer.Reply>> replies = new ArrayList<>();
                for (int i = 0; i < 16; i++) {
                    replies.add(threads.submit(() -> server.send("POST", "/orders", body)));
                }
                Set<String> bodies = new HashSet<>();
                List<Integer> statuses = new ArrayList<>();
                for (Future<PaymentsServer.Reply> reply : replies) {
                    bodies.add(reply.get().body());
                    statuses.add(reply.get().status());
                }
                assertThat(bodies).hasSize(1);
                assertThat(statuses).containsOnlyOnce(201).containsOnly(201, 200);
            } finally {
                threads.shutdownNow();
            }
            assertThat(server.send("POST", "/orders", body.replace("book", "car"))
                            .status())
                    .isEqualTo(422);
            PaymentsServer.Reply bobs = server.send("POST", "/orders", body, "Authorization", "Bearer test_bob");
            assertThat(bobs.status()).isEqualTo(201);
        }

        @Test
        @DisplayName("N2 putting settings again changes nothing, putting others replaces them")
        void upsert() throws Exception {
            String path = "/customers/c-1/settings";
            String german = "{\"language\":\"de\",\"email_receipts\":true}";
            String french = "{\"language\":\"fr\",\"email_receipts\":false}";
            assertThat(server.send("GET", path, "").status()).isEqualTo(404);
            for (String settings : List.of(german, german, french, german)) {
                assertThat(server.send("PUT", path, settings).status()).isEqualTo(200);
                assertThat(server.send("GET", path, "").body()).isEqualTo(settings);
            }
            assertThat(server.send("GET", path, "", "Authorization", "Bearer test_bob")
                            .status())
                    .isEqualTo(404);
        }

        @Test
        @DisplayName("N2 deleting settings again changes nothing and gets the same answer; nobody else's are deleted")
        void delete() throws Exception {
            String path = "/customers/c-2/settings";
            String settings = "{\"language\":\"de\",\"email_receipts\":true}";
            server.send("PUT", path, settings, "Authorization", "Bearer test_bob");
            assertThat(server.send("PUT", path, settings).status()).isEqualTo(200);
            for (int i = 0; i < 3; i++) {
                assertThat(server.send("DELETE", path, "").status()).isEqualTo(204);
                assertThat(server.send("GET", path, "").status()).isEqualTo(404);
            }
            assertThat(server.send("GET", path, "", "Authorization", "Bearer test_bob")
                            .body())
                    .isEqualTo(settings);
        }
    }

    @Nested
    class OnSqlite extends Contract {
        @Override
        String jdbcUrl(Path folder) {
            return "jdbc:sqlite:" + folder.resolve("payments.db");
        }
    }

    @Nested
    class OnPostgres extends Contract {
        @Override
        String jdbcUrl(Path folder) {
            return PostgresServer.shared().createDatabase();
        }
    }

    @Nested
    class OnMariaDb extends Contract {
        @Override
        String jdbcUrl(Path folder) {
            return MariaDbServer.shared().createDatabase();
        }
    }
}
