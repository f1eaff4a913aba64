package dev.onlyonce.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Time;
import dev.onlyonce.testkit.ManualTime;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

@DisplayName("The transactional way while the pool has no connection")
class AdmissionTest {
    @TempDir
    static Path folder;

    /** A pool that can be made to let everybody wait. */
    static final class Holding extends DelegatingDataSource {
        private volatile CountDownLatch open = new CountDownLatch(0);
        private volatile CountDownLatch entered = new CountDownLatch(0);
        private volatile boolean broken;

        Holding(DataSource target) {
            super(target);
        }

        void hold() {
            broken = false;
            entered = new CountDownLatch(1);
            open = new CountDownLatch(1);
        }

        void awaitWaiter() throws InterruptedException {
            assertThat(entered.await(60, TimeUnit.SECONDS)).isTrue();
        }

        void release(boolean givingNone) {
            broken = givingNone;
            open.countDown();
        }

        @Override
        public Connection getConnection() throws SQLException {
            entered.countDown();
            try {
                if (!open.await(60, TimeUnit.SECONDS) || broken) {
                    throw new SQLException("no connection is available");
                }
            } catch (InterruptedException e) {
                throw new SQLException(e);
            }
            return super.getConnection();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    static class App {
        @Bean
        Time time() {
            return new ManualTime();
        }

        @Bean
        Holding dataSource() {
            return new Holding(
                    new DriverManagerDataSource("jdbc:sqlite:" + folder.resolve("entries.db") + "?synchronous=FULL"));
        }

        @Bean
        PlatformTransactionManager manager(DataSource dataSource) {
            return new DataSourceTransactionManager(dataSource);
        }

        @Bean
        Payments payments() {
            return new Payments();
        }
    }

    static class Payments {
        @Idempotent(key = "#id")
        @Transactional
        public String pay(String id) {
            return "paid " + id;
        }
    }

    @Test
    @Timeout(120)
    @DisplayName("D9 nobody joins a line that does not move: 503 at once, one at a time tries, and it recovers by itself")
    void refusesAtOnce() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        OnlyonceAutoConfiguration.class,
                        OnlyonceTransactionsAutoConfiguration.class,
                        OnlyonceMethodsAutoConfiguration.class))
                .withUserConfiguration(App.class)
                .withPropertyValues("onlyonce.store.wait-max=5s")
                .run(context -> {
                    Payments payments = context.getBean(Payments.class);
                    Holding pool = context.getBean(Holding.class);

                    pool.hold();
                    CompletableFuture<String> first = CompletableFuture.supplyAsync(() -> payments.pay("first"));
                    pool.awaitWaiter();
                    // The background's tasks would wait for a connection too, so the clock moves without them.
                    context.getBean(ManualTime.class).jump(Duration.ofSeconds(5));
                    assertThatThrownBy(() -> payments.pay("late")).isInstanceOf(StoreUnavailable.class);
                    pool.release(true);
                    assertThatThrownBy(first::join).hasCauseInstanceOf(StoreUnavailable.class);

                    pool.hold();
                    CompletableFuture<String> probe = CompletableFuture.supplyAsync(() -> payments.pay("probe"));
                    pool.awaitWaiter();
                    assertThatThrownBy(() -> payments.pay("late")).isInstanceOf(StoreUnavailable.class);
                    pool.release(false);
                    assertThat(probe.join()).isEqualTo("paid probe");
                    assertThat(payments.pay("late")).isEqualTo("paid late");
                    assertThat(payments.pay("first")).isEqualTo("paid first");
                });
    }
}
