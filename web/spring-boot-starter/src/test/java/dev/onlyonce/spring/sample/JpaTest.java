package dev.onlyonce.spring.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Way;
import dev.onlyonce.servlet.TenantResolver;
import dev.onlyonce.spring.Idempotent;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.testservers.PostgresServer;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.PersistenceContext;
import jakarta.persistence.PersistenceException;
import jakarta.servlet.http.HttpServletResponse;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.hibernate.Interceptor;
import org.hibernate.Session;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.server.ResponseStatusException;

@DisplayName("The transactional way with JPA")
class JpaTest {
    private static final AtomicInteger RUNS = new AtomicInteger();

    @Test
    @DisplayName("D5 what Hibernate writes and the entry are one transaction")
    void oneTransaction() {
        try (RunningSample app =
                new RunningSample(App.class, PostgresServer.shared().createDatabase())) {
            int before = RUNS.get();
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
            assertThat(RUNS.get() - before).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/orders", "/flushed"})
    @DisplayName(
            "R2 D5 a constraint that Hibernate breaks, at a flush or at the end, is the advice's to answer, and recorded")
    void refused(String path) {
        try (RunningSample app =
                new RunningSample(App.class, PostgresServer.shared().createDatabase())) {
            Orders orders = app.bean(Orders.class);
            assertThat(app.post("/orders?number=7", "k1", "").statusCode()).isEqualTo(201);
            int before = RUNS.get();
            HttpResponse<String> refused = app.post(path + "?number=7", "k2", "");
            assertThat(refused.statusCode()).isEqualTo(409);
            assertThat(refused.body()).isEqualTo("there already");
            assertThat(refused.headers().firstValue("X-Placed")).isEmpty();
            HttpResponse<String> retry = app.post(path + "?number=7", "k2", "");
            assertThat(retry.statusCode()).isEqualTo(409);
            assertThat(RunningSample.isReplay(retry)).isTrue();
            assertThat(RUNS.get() - before).isEqualTo(1);
            assertThat(orders.count()).isEqualTo(1);
        }
    }

    @Test
    @DisplayName(
            "D5 what a bean's method has put off and cannot write is its own exception, and no doubt about the commit")
    void putOff() {
        try (RunningSample app =
                new RunningSample(App.class, PostgresServer.shared().createDatabase())) {
            Depot depot = app.bean(Depot.class);
            assertThatThrownBy(() -> depot.place("k1", 13))
                    .isNotInstanceOf(StoreException.class)
                    .hasStackTraceContaining("no order has the number 13");
            assertThat(depot.place("k2", 14)).isEqualTo(14);
            assertThat(app.bean(Orders.class).count()).isEqualTo(1);
        }
    }

    static class Depot {
        @PersistenceContext
        private EntityManager entities;

        @Idempotent(key = "#key")
        @Transactional
        public int place(String key, int number) {
            entities.persist(new PlacedOrder(number));
            return number;
        }
    }

    @RestControllerAdvice
    static class Advice {
        @ExceptionHandler
        ResponseEntity<String> there(DataIntegrityViolationException e) {
            return ResponseEntity.status(409).body("there already");
        }
    }

    @SampleApplication
    @Import({Orders.class, Depot.class, Advice.class})
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
            factory.setJpaPropertyMap(Map.of(
                    "hibernate.hbm2ddl.auto", "create", "hibernate.session_factory.interceptor", new Thirteen()));
            return factory;
        }

        @Bean
        JpaTransactionManager transactionManager(EntityManagerFactory factory) {
            return new JpaTransactionManager(factory);
        }
    }

    /** As Bean Validation does: looks at what is written when it is written. */
    static class Thirteen implements Interceptor {
        @Override
        public void preFlush(Iterator<Object> entities) {
            entities.forEachRemaining(entity -> {
                if (entity instanceof PlacedOrder order && order.number() == 13) {
                    throw new IllegalStateException("no order has the number 13");
                }
            });
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

        int number() {
            return number;
        }
    }

    @RestController
    static class Orders {
        @PersistenceContext
        private EntityManager entities;

        @Idempotent(way = Way.TRANSACTIONAL)
        @Transactional
        @PostMapping("/orders")
        @ResponseStatus(HttpStatus.CREATED)
        public String place(@RequestParam int number, HttpServletResponse response) {
            RUNS.incrementAndGet();
            entities.persist(new PlacedOrder(number));
            response.setHeader("X-Placed", "yes");
            if (number < 0) {
                throw new ResponseStatusException(HttpStatus.PAYMENT_REQUIRED, "not enough money");
            }
            // A native query would flush what was persisted.
            return "entries seen by its transaction: "
                    + entities.unwrap(Session.class).doReturningWork(Orders::entries);
        }

        private static long entries(Connection connection) throws SQLException {
            try (Statement statement = connection.createStatement();
                    ResultSet rows = statement.executeQuery(
                            "SELECT count(*) FROM onlyonce_entry WHERE fingerprint_version > 0")) {
                rows.next();
                return rows.getLong(1);
            }
        }

        @Idempotent
        @Transactional
        @PostMapping("/flushed")
        public ResponseEntity<String> flushed(@RequestParam int number) {
            RUNS.incrementAndGet();
            entities.persist(new PlacedOrder(number));
            try {
                entities.flush();
            } catch (PersistenceException e) {
                throw new DataIntegrityViolationException("the database refuses it", e);
            }
            return ResponseEntity.ok("placed");
        }

        @Transactional(readOnly = true)
        public long count() {
            return ((Number) entities.createQuery("SELECT count(o) FROM JpaTest$PlacedOrder o")
                            .getSingleResult())
                    .longValue();
        }
    }
}
