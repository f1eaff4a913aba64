package dev.onlyonce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Time;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("An operation has one way")
class WaysTest {
    private static final Fingerprint REQUEST = Fingerprint.of("10 EUR".getBytes(StandardCharsets.UTF_8));
    private static final String OPERATION = "POST /payments";

    private final Time time = Time.system();
    private final AtomicInteger effects = new AtomicInteger();

    @AfterEach
    void stop() {
        time.close();
    }

    private Onlyonce.Builder builder() {
        return Onlyonce.builder(new MemoryStore(time)).time(time);
    }

    private Outcome<String> pay(Onlyonce once, String operation) {
        return once.execute(
                Key.of("acme", operation, "key-1"),
                REQUEST,
                Codec.text(),
                claim -> "paid " + effects.incrementAndGet());
    }

    @ParameterizedTest
    @EnumSource(value = Way.class, names = "LEASED", mode = EnumSource.Mode.EXCLUDE)
    @DisplayName("and the first use fixes it: another way is refused, and nothing runs")
    void firstUse(Way way) {
        try (Onlyonce once = builder().build()) {
            once.registry().policy(OPERATION, way);
            assertThatThrownBy(() -> pay(once, OPERATION))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining(OPERATION)
                    .hasMessageContaining(way.name())
                    .hasMessageContaining(Way.LEASED.name());
            assertThatThrownBy(() -> once.begin(Key.of("acme", OPERATION, "key-2"), REQUEST))
                    .isInstanceOf(IllegalStateException.class);
            assertThat(effects).hasValue(0);
            assertThat(pay(once, "POST /refunds").orElseThrow()).isEqualTo("paid 1");
        }
    }

    @Test
    @DisplayName("which a declaration fixes before the first use")
    void declared() {
        try (Onlyonce once =
                builder().operation(OPERATION, o -> o.way(Way.QUEUED)).build()) {
            assertThatThrownBy(() -> pay(once, OPERATION)).isInstanceOf(IllegalStateException.class);
            assertThat(once.registry().declared(Way.QUEUED)).containsExactly(OPERATION);
            assertThat(once.registry().declared(Way.LEASED)).isEmpty();
        }
    }

    @Test
    @DisplayName("and executing it leased keeps the other ways out")
    void leased() {
        try (Onlyonce once = builder().build()) {
            assertThat(pay(once, OPERATION).orElseThrow()).isEqualTo("paid 1");
            assertThatThrownBy(() -> once.registry().policy(OPERATION, Way.TRANSACTIONAL))
                    .isInstanceOf(IllegalStateException.class);
            assertThat(once.registry().policy(OPERATION, Way.LEASED)).isEqualTo(Policy.standard());
        }
    }

    @ParameterizedTest
    @EnumSource(value = Way.class, names = "LEASED", mode = EnumSource.Mode.EXCLUDE)
    @DisplayName("and a request that claims or executes under its own policy, as over HTTP, does not get around it")
    void ownPolicy(Way way) {
        Key key = Key.of("acme", OPERATION, "key-1");
        Policy policy = Policy.standard();
        try (Onlyonce once = builder().build()) {
            Registry registry = once.registry();
            registry.policy(OPERATION, way);
            assertThatThrownBy(() -> registry.claim(key, REQUEST, policy)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> registry.claim(key, REQUEST, policy, Runnable::run))
                    .isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> registry.execute(
                            key, REQUEST, policy, Codec.text(), claim -> "paid " + effects.incrementAndGet()))
                    .isInstanceOf(IllegalStateException.class);
            assertThat(effects).hasValue(0);
            assertThat(once.find(key)).isEmpty();
        }
    }

    @Test
    @DisplayName("which such a request fixes too")
    void ownPolicyFirst() {
        try (Onlyonce once = builder().build()) {
            once.registry().claim(Key.of("acme", OPERATION, "key-1"), REQUEST, Policy.standard());
            assertThatThrownBy(() -> once.registry().policy(OPERATION, Way.STEPPED))
                    .isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    @DisplayName("and is kept when an operation is declared after very many others")
    void declaredLate() {
        try (Onlyonce once = builder().build()) {
            for (int i = 0; i < 10_000; i++) {
                once.registry().policy("GET /payments/" + i, Way.LEASED);
            }
            once.registry().declare(OPERATION, Policy.standard(), Way.QUEUED);
            assertThatThrownBy(() -> pay(once, OPERATION)).isInstanceOf(IllegalStateException.class);
        }
    }
}
