package dev.onlyonce.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.spring.methods.OnlyonceMethodsAutoConfiguration;
import dev.onlyonce.spring.operations.InvalidSettingsAnalyzer;
import dev.onlyonce.spring.outbox.OnlyonceOutboxAutoConfiguration;
import dev.onlyonce.spring.store.OnlyonceAutoConfiguration;
import dev.onlyonce.spring.transactions.OnlyonceTransactionsAutoConfiguration;
import dev.onlyonce.spring.web.OnlyonceWebAutoConfiguration;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Time;
import java.nio.file.Path;
import java.util.Objects;
import javax.sql.DataSource;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;

/** Starts applications, with their entries in memory or in a SQLite file, and looks at what they print if they do not start. */
public class StartUp {
    @TempDir
    Path folder;

    final WebApplicationContextRunner runner = new WebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    WebMvcAutoConfiguration.class,
                    OnlyonceAutoConfiguration.class,
                    OnlyonceTransactionsAutoConfiguration.class,
                    OnlyonceOutboxAutoConfiguration.class,
                    OnlyonceMethodsAutoConfiguration.class,
                    OnlyonceWebAutoConfiguration.class))
            .withPropertyValues("onlyonce.anonymous-tenant=everybody");

    final WebApplicationContextRunner inMemory = runner.withUserConfiguration(InMemory.class);

    final WebApplicationContextRunner sql = runner.withUserConfiguration(OneDatabase.class)
            .withBean(
                    DataSource.class,
                    () -> new DriverManagerDataSource(
                            "jdbc:sqlite:" + folder.resolve("entries.db") + "?synchronous=FULL"));

    @Configuration(proxyBeanMethods = false)
    static class InMemory {
        @Bean
        Store store(Time time) {
            return new MemoryStore(time);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OneDatabase {
        @Bean
        PlatformTransactionManager manager(DataSource dataSource) {
            return new DataSourceTransactionManager(dataSource);
        }
    }

    /** What the application prints instead of starting: what is wrong, and what to change. */
    public static void refuses(WebApplicationContextRunner runner, String wrong, String change) {
        runner.run(context -> {
            assertThat(context).hasFailed();
            FailureAnalysis analysis = new InvalidSettingsAnalyzer().analyze(context.getStartupFailure());
            assertThat(analysis).as("analysed: " + context.getStartupFailure()).isNotNull();
            assertThat(Objects.requireNonNull(analysis).getDescription()).contains(wrong);
            assertThat(analysis.getAction()).contains(change);
        });
    }
}
