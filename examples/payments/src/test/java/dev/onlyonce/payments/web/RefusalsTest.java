package dev.onlyonce.payments.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.store.StoreUnavailable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.http.ProblemDetail;

class RefusalsTest {
    @Test
    @DisplayName("When the store fails in the middle of a request, nobody is told that nothing was done")
    void inTheMiddle() {
        ProblemDetail problem =
                new Refusals().storeFailed(new StoreUnavailable("gone", null)).getBody();
        assertThat(problem).isNotNull();
        assertThat(problem.getStatus()).isEqualTo(503);
        assertThat(problem.getDetail()).isEqualTo("Try again with the same key; it goes on where this request ended");
    }
}
