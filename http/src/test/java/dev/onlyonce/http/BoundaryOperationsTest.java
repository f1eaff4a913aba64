package dev.onlyonce.http;

import static dev.onlyonce.http.TestBoundary.payments;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
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
        "/payments,/Payments,true",
        "/payments,//x/payments,true",
        "/payments,/\\x/payments,true",
        "/payments,/%2fx/payments,true",
        "/payments,/x/..;/payments,true",
        "/payments,/x/..;a=b/payments,true",
        "/payments,/x/%2e%2e/payments,true",
        "/payments,/payments/x/..;,true",
        "/payments,/payments;/x,true",
        "/payments,/payments%3bv=1,true",
        "/payments,/payments%00.html,true",
        "/payments,/%2570ayments,true",
        "/payments,/a%2fb\\..\\payments,true",
        "/payments,/a\\b%2f..%2fpayments,true",
        "/payments,/a%2fb%5c..%5cpayments,true",
        "/payments,/%25%37%30ayments,true",
        "/payments,/payments%2500.html,true",
        "/v1/payments,/v1/%2e%2e/../payments,true",
        "/v1/payments,/v1/..;/../payments;x,true",
        "/payments/**,/payments/../x,true",
        "/*/payments,//payments,true",
        "/payments,/x/payments,false",
        "/payments,/payments/x,false",
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
    @DisplayName(
            "F3 a path that is too odd to be read in every way belongs to an operation and is ambiguous, at no cost")
    void odd() {
        try (TestBoundary test = TestBoundary.of(payments().build())) {
            for (String odd : List.of("//", "/../", ";x", "\\\\", "a%2f", "%25", "%2e/", "%3B", "%00", "%5C")) {
                String path = "/x" + odd.repeat(4000 / odd.length()) + "payments";
                assertThat(PathReadings.isTooOdd(path)).as(odd).isTrue();
                assertThat(test.boundary().operation("POST", path)).as(odd).isPresent();
                assertThat(test.boundary().operation("POST", "/shop", "/shop" + path, path))
                        .as(odd)
                        .isPresent();
                assertThat(test.boundary().isAmbiguous("POST", path)).as(odd).isTrue();
                assertThat(test.boundary().operation("GET", path)).as(odd).isEmpty();
                assertThat(test.boundary().isAmbiguous("GET", path)).as(odd).isFalse();
            }
            assertThat(PathReadings.isTooOdd("/" + "%C3%A9a/".repeat(1000)))
                    .as("long names in other alphabets are not odd")
                    .isFalse();
            assertThat(PathReadings.isTooOdd("/files/http%3A%2F%2Fa.example%2Fb%2Fc"))
                    .isFalse();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "/payments,/payments,false",
        "/payments,/payments/,false",
        "/payments,/%70ayments,false",
        "/payments,/Payments,false",
        "/payments,/refunds;v=1,false",
        "/payments,//refunds,false",
        "/payments,//payments,true",
        "/payments,//x/payments,true",
        "/payments,/x/../payments,true",
        "/payments,/payments/%2e,true",
        "/payments,/payments;v=1,true",
        "/payments,/%2570ayments,true",
        "/payments/{id},/payments/a%2Fb,true",
        "/**,//x/../payments;v=1%2f%00,false"
    })
    @DisplayName("A path is ambiguous if servers may take it for different operations")
    void ambiguous(String template, String path, boolean ambiguous) {
        try (TestBoundary test =
                TestBoundary.of(Operation.builder("POST", template).build())) {
            assertThat(test.boundary().isAmbiguous("POST", path)).isEqualTo(ambiguous);
            assertThat(test.boundary().isAmbiguous("GET", path)).isFalse();
        }
    }

    @Test
    @DisplayName("F3 the most ambiguous path that fits into a request line is read in bounded time")
    void hostilePath() {
        try (TestBoundary test = TestBoundary.of(payments().build())) {
            String path = "//%252f%5c;%3b/..".repeat(500);
            long begun = System.nanoTime();
            for (int i = 0; i < 20; i++) {
                assertThat(test.boundary().isAmbiguous("POST", path)).isTrue();
            }
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(1));
        }
    }

    @Test
    @DisplayName("Two operations cannot have one name, and templates must make sense")
    void builderChecks() {
        Operation one = payments().build();
        assertThatThrownBy(() -> TestBoundary.of(one, one)).hasMessageContaining("POST /payments");
        assertThatThrownBy(() -> Operation.builder("POST", "payments").build()).hasMessageContaining("slash");
        assertThatThrownBy(() -> Operation.builder("POST", "/**/a").build()).hasMessageContaining("last");
        assertThatThrownBy(() -> Profile.of("lax")).hasMessageContaining("ietf, stripe, strict or oasis");
    }
}
