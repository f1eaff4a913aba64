package shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;

import dev.onlyonce.spring.test.OnlyonceTest;
import dev.onlyonce.spring.test.Reply;
import dev.onlyonce.spring.test.Retries;
import dev.onlyonce.testkit.ManualTime;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.test.web.servlet.MockMvc;

@SpringBootTest(properties = "onlyonce.anonymous-tenant=everybody")
@AutoConfigureMockMvc
@OnlyonceTest
@DisplayName("Orders")
class OrdersTest {
    @Autowired
    MockMvc mvc;

    @Autowired
    Retries retries;

    @Autowired
    ManualTime time;

    private Reply order(String key, String item) throws Exception {
        return Reply.of(mvc.perform(
                post("/orders").header("Idempotency-Key", key).content(item).contentType("text/plain")));
    }

    @Test
    @DisplayName("W7 are protected")
    void areProtected() {
        retries.assertProtected("POST /orders");
        retries.assertAllProtected();
    }

    @Test
    @DisplayName("R1 are placed once, and a retry gets the first answer")
    void replayed() throws Exception {
        Reply first = retries.assertReplayed(key -> order(key, "book"));
        assertThat(first.status()).isEqualTo(200);
    }

    @Test
    @DisplayName("F1 are not placed with the key of another order")
    void mismatched() throws Exception {
        retries.assertRefusesOther(key -> order(key, "book"), key -> order(key, "pen"));
    }

    @Test
    @DisplayName("D1 end unknown if the application crashes after it has placed one")
    void crash() throws Exception {
        retries.assertUnknownAfterCrash(key -> order(key, "book"));
    }

    @Test
    @DisplayName("T1 are remembered for a day")
    void retention() throws Exception {
        order("key-of-yesterday", "book");
        time.advance(Duration.ofHours(25));
        assertThat(order("key-of-yesterday", "book").isReplay()).isFalse();
    }
}
