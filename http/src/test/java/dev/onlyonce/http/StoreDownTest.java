package dev.onlyonce.http;

import static dev.onlyonce.http.TestBoundary.assertProblem;
import static dev.onlyonce.http.TestBoundary.created;
import static dev.onlyonce.http.TestBoundary.payments;
import static dev.onlyonce.http.TestBoundary.post;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreUnavailable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class StoreDownTest {
    private final TestBoundary.StandingTime time = new TestBoundary.StandingTime();
    private final AtomicBoolean down = new AtomicBoolean();
    private final AtomicBoolean overloaded = new AtomicBoolean();
    private final Store store = failing(new MemoryStore(time));
    private final Onlyonce once = Onlyonce.builder(store).time(time).build();
    private final Boundary boundary =
            Boundary.builder(once).operation(payments().build()).build();

    private Store failing(Store real) {
        return (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(), new Class<?>[] {Store.class}, (proxy, method, args) -> {
                    if (down.get()) {
                        throw new StoreUnavailable("down", null);
                    }
                    if (overloaded.get() && method.getName().equals("claim")) {
                        return List.of(new ClaimResult.Unavailable("throttled"));
                    }
                    try {
                        return method.invoke(real, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @Test
    @DisplayName("D9 with the store down nothing runs: 503 with Retry-After; it recovers by itself")
    void claimFails() {
        down.set(true);
        Exchange refused = TestBoundary.decide(boundary, post("k-1"));
        assertProblem(refused.answer(), 503, Problem.STORE_UNAVAILABLE);
        assertProblem(boundary.status(post("k-1")), 503, Problem.STORE_UNAVAILABLE);
        down.set(false);
        time.pass(Duration.ofSeconds(1));
        assertThat(TestBoundary.decide(boundary, post("k-1")).stage()).isEqualTo(Exchange.Stage.RUNNING);
    }

    @Test
    @DisplayName(
            "D9 a claim that an overloaded store does not take is 503 with Retry-After, not in progress: nobody is at work")
    void claimThrottled() {
        overloaded.set(true);
        Exchange refused = TestBoundary.decide(boundary, post("k-1"));
        assertProblem(refused.answer(), 503, Problem.STORE_UNAVAILABLE);
        overloaded.set(false);
        // The store as a whole is well: no pause keeps the next request off.
        assertThat(TestBoundary.decide(boundary, post("k-1")).stage()).isEqualTo(Exchange.Stage.RUNNING);
    }

    @Test
    @DisplayName(
            "R3 D13 an answer whose record is in doubt is not sent: 503; it is recorded later, and the effect is not repeated")
    void settleFails() {
        Exchange exchange = TestBoundary.decide(boundary, post("k-1"));
        down.set(true);
        assertProblem(exchange.finish(created()), 503, Problem.NOT_RECORDED);
        down.set(false);
        time.pass(Duration.ofSeconds(1));
        Exchange retry = TestBoundary.decide(boundary, post("k-1"));
        assertProblem(retry.answer(), 409, Problem.IN_PROGRESS);
        time.pass(Duration.ofSeconds(30));
        // The node records what it knows before it sweeps what has lapsed.
        once.operator().sweep();
        Exchange later = TestBoundary.decide(boundary, post("k-1"));
        assertThat(later.answer().status()).isEqualTo(201);
    }
}
