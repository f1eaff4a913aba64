package dev.onlyonce.spring.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.OutcomeException;
import dev.onlyonce.spring.Coverage;
import dev.onlyonce.spring.Idempotent;
import dev.onlyonce.store.Store;
import dev.onlyonce.testkit.CrashingStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.context.annotation.Import;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.client.RestTestClient;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import shop.Shop;

@SpringBootTest(
        classes = {Shop.class, RetriesTest.Bare.class},
        properties = "onlyonce.anonymous-tenant=everybody")
@AutoConfigureMockMvc
@OnlyonceTest
@Import(RetriesTest.Bookings.class)
@DisplayName("Assertions about retries")
class RetriesTest {
    private static final Path GUIDE = Path.of(System.getProperty("onlyonce.root"), "docs", "guides", "testing.md");

    @RestController
    static class Bare {
        private final AtomicInteger runs = new AtomicInteger();

        @PostMapping("/bare")
        String bare() {
            return "run " + runs.incrementAndGet();
        }

        @Idempotent
        @PostMapping("/later")
        Callable<String> later() {
            return () -> "later " + runs.incrementAndGet();
        }
    }

    static class Bookings {
        @Idempotent(key = "#id")
        public String book(String id, String what) {
            return "booked " + what;
        }
    }

    @Autowired
    MockMvc mvc;

    @Autowired
    Retries retries;

    @Autowired
    Store store;

    @Autowired
    Onlyonce once;

    @Autowired
    Shop shop;

    @Autowired
    Bookings bookings;

    private Reply send(String path, String key, String body) throws Exception {
        return Reply.of(mvc.perform(
                post(path).header("Idempotency-Key", key).content(body).contentType("text/plain")));
    }

    @Test
    @DisplayName("find a handler that is not protected")
    void unprotected() {
        assertThatThrownBy(() -> retries.assertProtected("POST /bare"))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("POST /bare")
                .hasMessageContaining("POST /orders");
        assertThatThrownBy(() -> retries.assertAllProtected())
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("POST /bare");
        assertThatThrownBy(() -> retries.assertReplayed(key -> send("/bare", key, "")))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("run 2");
        assertThatThrownBy(() -> retries.assertRefusesOther(
                        key -> send("/bare", key, "one"), key -> send("/bare", key, "other")))
                .isInstanceOf(AssertionError.class);
        assertThatThrownBy(() -> retries.assertUnknownAfterCrash(key -> send("/bare", key, "")))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("Is the handler protected?");
    }

    @Test
    @DisplayName("find a test that sends another key than it got")
    void wrongKey() throws Exception {
        String own = UUID.randomUUID().toString();
        send("/orders", own, "book");
        assertThatThrownBy(() -> retries.assertReplayed(key -> send("/orders", own, "book")))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("does it use the key");
    }

    @Test
    @DisplayName("D1 run the handler once where its owner crashes")
    void crashRunsOnce() throws Exception {
        int before = shop.orders();
        Reply retry = retries.assertUnknownAfterCrash(key -> send("/orders", key, "book"));
        assertThat(retry.status()).isEqualTo(409);
        assertThat(shop.orders() - before).isEqualTo(1);
        assertThat(store).isInstanceOf(CrashingStore.class);
        retries.assertReplayed(key -> send("/orders", key, "the next one lives"));
    }

    @Test
    @DisplayName("take what any of Spring's clients got")
    void clients() throws Exception {
        MockMvcTester tester = MockMvcTester.create(mvc);
        retries.assertReplayed(key -> Reply.of(tester.post()
                .uri("/orders")
                .header("Idempotency-Key", key)
                .content("pen")
                .exchange()));
        RestTestClient client = RestTestClient.bindTo(mvc).build();
        retries.assertReplayed(key -> RestReply.of(client.post()
                .uri("/orders")
                .header("Idempotency-Key", key)
                .body("pen")
                .exchange()));
    }

    @Test
    @DisplayName("R1 take what asynchronous handlers answered, and say what to do if they have not answered yet")
    void asynchronous() throws Exception {
        assertThatThrownBy(() -> retries.assertReplayed(key -> send("/later", key, "")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("MockMvcTester");
        MockMvcTester tester = MockMvcTester.create(mvc);
        Retries.Request later = key -> Reply.of(
                tester.post().uri("/later").header("Idempotency-Key", key).exchange());
        assertThat(retries.assertReplayed(later).text()).startsWith("later");
        retries.assertUnknownAfterCrash(later);
    }

    @Test
    @DisplayName("come with methods of beans that work in memory too")
    void methods() {
        retries.assertProtected("Bookings.book");
        assertThat(bookings.book("1", "one")).isEqualTo(bookings.book("1", "one"));
        assertThatThrownBy(() -> bookings.book("1", "other")).isInstanceOf(OutcomeException.class);
    }

    @Test
    @DisplayName("say what is missing where the store cannot crash")
    void noCrash() {
        try (Onlyonce other = Onlyonce.builder(
                        new dev.onlyonce.store.MemoryStore(once.registry().time()))
                .build()) {
            Retries own = new Retries(other, () -> new Coverage(List.of(), List.of(), List.of()));
            assertThatThrownBy(() -> own.assertUnknownAfterCrash(key -> send("/orders", key, "")))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("@OnlyonceTest");
        }
    }

    @Test
    @DisplayName("are shown in the guide as the tests run them")
    void guide() throws Exception {
        Matcher program = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL).matcher(Files.readString(GUIDE));
        String tested = Files.readString(Path.of("src/test/java/shop/OrdersTest.java"));
        int programs = 0;
        while (program.find()) {
            assertThat(tested).contains(program.group(1));
            programs++;
        }
        assertThat(programs).isPositive();
    }
}
