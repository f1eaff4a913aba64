package dev.onlyonce.spring.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.servlet.TenantResolver;
import dev.onlyonce.spring.Idempotent;
import dev.onlyonce.testservers.PostgresServer;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.PersistenceContext;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

@DisplayName("The transactional way with JPA")
class JpaTest {
    private static final AtomicInteger RUNS = new AtomicInteger();

    @Test
    @DisplayName("D5 what Hibernate writes and the entry are one transaction")
    void oneTransaction() {
        try (RunningSample app =
                new RunningSample(App.class, PostgresServer.shared().createDatabase())) {
            Orders orders = app.bean(Orders.class);
            HttpResponse<String> first = app.post("/orders?number=1", "k1", "");
            assertThat(first.statusCode()).isEqualTo(201);
            assertThat(first.body()).isEqualTo("entries seen by its transaction: 1");
            HttpResponse<String> retry = app.post("/orders?number=1", "k1", "");
            assertThat(RunningSample.isReplay(retry)).isTrue();
            assertThat(retry.body()).isEqualTo(first.body());

            assertThat(app.post("/orders?number=-1", "k2", "").statusCode()).isEqualTo(402);
            assertThat(orders.count()).isEqualTo(1);
            assertThat(RunningSample.isReplay(app.post("/orders?number=-1", "k2", "")))
                    .isTrue();
            assertThat(RUNS).hasValue(2);
        }
    }

    @SpringBootConfiguration
    @EnableAutoConfiguration(
            excludeName = {
                "org.springframework.boot.jetty.autoconfigure.servlet.JettyServletWebServerAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.SecurityAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.UserDetailsServiceAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration"
            })
    @Import(Orders.class)
    static class App {
        @Bean
        TenantResolver tenants() {
            return request -> "acme";
        }

        @Bean
        LocalContainerEntityManagerFactoryBean entityManagers(DataSource dataSource) {
            LocalContainerEntityManagerFactoryBean factory = new LocalContainerEntityManagerFactoryBean();
            factory.setDataSource(dataSource);
            factory.setManagedTypes(PersistenceManagedTypes.of(PlacedOrder.class.getName()));
            factory.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
            factory.setJpaPropertyMap(Map.of("hibernate.hbm2ddl.auto", "create"));
            return factory;
        }

        @Bean
        JpaTransactionManager transactionManager(EntityManagerFactory factory) {
            return new JpaTransactionManager(factory);
        }
    }

    @Entity
    static class PlacedOrder {
        @Id
        private int number;

        protected PlacedOrder() {}

        PlacedOrder(int number) {
            this.number = number;
        }
    }

    @RestController
    static class Orders {
        @PersistenceContext
        private EntityManager entities;

        @Idempotent(way = Idempotent.Way.TRANSACTIONAL)
        @Transactional
        @PostMapping("/orders")
        @ResponseStatus(HttpStatus.CREATED)
        public String place(@RequestParam int number) {
            RUNS.incrementAndGet();
            entities.persist(new PlacedOrder(number));
            if (number < 0) {
                throw new ResponseStatusException(HttpStatus.PAYMENT_REQUIRED, "not enough money");
            }
            return "entries seen by its transaction: "
                    + entities.createNativeQuery("SELECT count(*) FROM onlyonce_entry")
                            .getSingleResult();
        }

        @Transactional(readOnly = true)
        public long count() {
            return ((Number) entities.createQuery("SELECT count(o) FROM JpaTest$PlacedOrder o")
                            .getSingleResult())
                    .longValue();
        }
    }
}
