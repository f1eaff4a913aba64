package dev.onlyonce.spring.transactions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.spring.Idempotent;
import dev.onlyonce.spring.methods.OnlyonceMethodsAutoConfiguration;
import dev.onlyonce.spring.store.OnlyonceAutoConfiguration;
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
    @DisplayName(
            "D9 after one got no connection, one at a time tries and the others get 503 at once; it recovers by itself")
    void oneAtATime() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        OnlyonceAutoConfiguration.class,
                        OnlyonceTransactionsAutoConfiguration.class,
                        OnlyonceMethodsAutoConfiguration.class))
                .withUserConfiguration(App.class)
                .run(context -> {
                    Payments payments = context.getBean(Payments.class);
                    Holding pool = context.getBean(Holding.class);
                    pool.hold();
                    pool.release(true);
                    assertThatThrownBy(() -> payments.pay("first")).isInstanceOf(StoreUnavailable.class);

                    pool.hold();
                    CompletableFuture<String> probe = CompletableFuture.supplyAsync(() -> payments.pay("probe"));
                    pool.awaitWaiter();
                    assertThatThrownBy(() -> payments.pay("late")).isInstanceOf(StoreUnavailable.class);
                    assertThat(probe).as("the other did not wait for it").isNotDone();
                    pool.release(false);
                    assertThat(probe.join()).isEqualTo("paid probe");
                    assertThat(payments.pay("late")).isEqualTo("paid late");
                    assertThat(payments.pay("first")).isEqualTo("paid first");
                });
    }

    @Test
    @DisplayName("D9 a line that moves may be long; one that does not move for as long as one may wait is not joined")
    void line() {
        ManualTime time = new ManualTime();
        Admission admission = new Admission(time, Duration.ofSeconds(5));
        String taken = admission.take(() -> {
            time.advance(Duration.ofSeconds(4));
            assertThat(admission.take(() -> "it moves")).isEqualTo("it moves");
            time.advance(Duration.ofSeconds(4));
            assertThat(admission.take(() -> "it moves")).isEqualTo("it moves");
            time.advance(Duration.ofSeconds(5));
            assertThatThrownBy(() -> admission.take(() -> "in vain")).isInstanceOf(StoreUnavailable.class);
            return "at last";
        });
        assertThat(taken).isEqualTo("at last");
        assertThat(admission.take(() -> "again")).isEqualTo("again");
    }
}
