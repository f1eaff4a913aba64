package dev.onlyonce.http;

import static dev.onlyonce.http.TestBoundary.payments;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which requests are an operation's, and which operations can be. */
class BoundaryOperationsTest {

    @ParameterizedTest
    @CsvSource({
        "/payments/{id}/capture,/payments/7/capture,true",
        "/payments/{id}/capture,/payments/7,false",
        "/payments,/payments/,true",
        "/payments,//payments,true",
        "/payments,/x/../payments,true",
        "/payments,/payments;v=1,true",
        "/payments,/%70ayments,true",
        "/payments,/x%2f..%2Fpayments,true",
        "/payments,/payments%5C,true",
        "/payments,/\\payments,true",
        "/payments/{id},/payments/a%2Fb,true",
        "/payments,/Payments,false",
        "/api/**,/api,true",
        "/api/**,/api/a/b,true",
        "/api/**,/apix,false",
        "/api/*/b,/api/a/b,true",
        "/,/,true"
    })
    @DisplayName("An operation takes every spelling of its path that a server may take for it")
    void paths(String template, String path, boolean matches) {
        try (TestBoundary test =
                TestBoundary.of(Operation.builder("POST", template).build())) {
            assertThat(test.boundary().operation("POST", path).isPresent()).isEqualTo(matches);
            assertThat(test.boundary().operation("post", path).isPresent()).isEqualTo(matches);
            assertThat(test.boundary().operation("PATCH", path)).isEmpty();
        }
    }

    @Test
    @DisplayName("Two operations cannot have one name, and templates must make sense")
    void builderChecks() {
        Operation one = payments().build();
        assertThatThrownBy(() -> TestBoundary.of(one, one)).hasMessageContaining("POST /payments");
        assertThatThrownBy(() -> Operation.builder("POST", "payments").build()).hasMessageContaining("slash");
        assertThatThrownBy(() -> Operation.builder("POST", "/**/a").build()).hasMessageContaining("last");
        assertThatThrownBy(() -> Profile.of("lax")).hasMessageContaining("ietf, stripe or strict");
    }
}
