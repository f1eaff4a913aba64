package dev.onlyonce.http;

import static dev.onlyonce.http.TestBoundary.created;
import static dev.onlyonce.http.TestBoundary.payments;
import static dev.onlyonce.http.TestBoundary.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Policy;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.State;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Whatever breaks between the handler's answer and its record, the claim is settled. */
class ExchangeErrorsTest {

    private static State state(TestBoundary test) {
        return test.store.list(EntryQuery.all(1)).get(0).state();
    }

    @Test
    @DisplayName("D12 a failure rule that throws an Error leaves the outcome unknown, and no claim behind")
    void failureRule() {
        Policy policy = Policy.builder()
                .failures(thrown -> {
                    throw new AssertionError("broken rule");
                })
                .build();
        try (TestBoundary test = TestBoundary.of(payments().policy(policy).build())) {
            assertThat(test.begin(post("k-1"))
                            .failed(new IllegalStateException())
                            .passes())
                    .isTrue();
            assertThat(state(test)).isEqualTo(State.UNKNOWN);
            assertThat(test.once.liveClaims()).isZero();
        }
    }

    @Test
    @DisplayName("D12 an answer that cannot be encoded leaves the outcome unknown, and no claim behind")
    void encoding() {
        // No value, which no client of ours sends: it stands for anything that breaks while encoding.
        Headers unreadable = new Headers(List.of(new Headers.Field("X-Broken", null)));
        HttpAnswer answer = new HttpAnswer(201, unreadable, created().body());
        try (TestBoundary test = TestBoundary.of(Profile.ietf())) {
            Exchange exchange = test.begin(post("k-1"));
            assertThatThrownBy(() -> exchange.finish(answer)).isInstanceOf(NullPointerException.class);
            assertThat(state(test)).isEqualTo(State.UNKNOWN);
            assertThat(test.once.liveClaims()).isZero();
        }
    }
}
