package dev.onlyonce.http;

import static dev.onlyonce.http.TestBoundary.assertProblem;
import static dev.onlyonce.http.TestBoundary.json;
import static dev.onlyonce.http.TestBoundary.payments;
import static dev.onlyonce.http.TestBoundary.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.fingerprint.Fingerprint;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Callers that share a tenant. */
class BoundaryCallersTest {
    private static final byte[] SECRET = "a secret of thirty-two characters".getBytes(StandardCharsets.UTF_8);

    /** How callers come to share a tenant. */
    enum Sharing {
        ANONYMOUS,
        CREDENTIALS,
        USUAL,
        WITH_SECRET;

        TestBoundary boundary() {
            UnaryOperator<Boundary.Builder> setting = switch (this) {
                case ANONYMOUS ->
                    builder -> builder.operation(payments().build()).anonymousTenant("everybody");
                case CREDENTIALS ->
                    builder -> builder.operation(payments().build()).credentials(List.of("X-Api-Key", "Authorization"));
                case USUAL -> builder -> builder.operation(payments().build()).credentials(Boundary.CREDENTIALS);
                case WITH_SECRET ->
                    builder -> builder.operation(payments()
                                    .fingerprint(fingerprint -> fingerprint.secret(3, SECRET))
                                    .build())
                            .credentials(List.of("Authorization"));
            };
            return new TestBoundary(setting);
        }

        HttpRequest post(String... credentials) {
            return asked("POST", "/payments", credentials);
        }

        HttpRequest status(String... credentials) {
            return asked("GET", "/status", credentials);
        }

        private HttpRequest asked(String method, String path, String... credentials) {
            Headers headers = Headers.of("Idempotency-Key", "k-1");
            for (int i = 0; i < credentials.length; i += 2) {
                headers = headers.plus(credentials[i], credentials[i + 1]);
            }
            return request(
                    method, path, headers, method.equals("POST") ? "{}" : "", this == ANONYMOUS ? null : "default");
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("K8 a caller with other credentials, or none, gets 422 in every state and runs nothing")
    void others(Sharing sharing) {
        try (TestBoundary test = sharing.boundary()) {
            Exchange running = test.begin(sharing.post("Authorization", "Bearer a"));
            refused(test, sharing);
            running.finish(TestBoundary.created());
            refused(test, sharing);
            assertThat(test.send(sharing.post("authorization", "Bearer a"))
                            .headers()
                            .has("Idempotent-Replayed"))
                    .isTrue();
            assertThat(test.effects).hasValue(0);
        }
    }

    private static void refused(TestBoundary test, Sharing sharing) {
        assertProblem(test.send(sharing.post("Authorization", "Bearer b")), 422, Problem.KEY_REUSED);
        assertProblem(
                test.send(sharing.post("Authorization", "Bearer a", "Authorization", "x")), 422, Problem.KEY_REUSED);
        assertProblem(test.send(sharing.post()), 422, Problem.KEY_REUSED);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("K8 a key that was used without credentials is not for a caller that has some")
    void firstWithout(Sharing sharing) {
        try (TestBoundary test = sharing.boundary()) {
            test.send(sharing.post());
            assertProblem(test.send(sharing.post("Authorization", "Bearer b")), 422, Problem.KEY_REUSED);
            assertThat(test.send(sharing.post()).status()).isEqualTo(201);
            assertThat(test.effects).hasValue(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("K8 the status of a key is told to the same credentials only; to others there is no such key")
    void status(Sharing sharing) {
        try (TestBoundary test = sharing.boundary()) {
            test.send(sharing.post("Authorization", "Bearer a"));
            HttpAnswer own = test.boundary().status(sharing.status("Authorization", "Bearer a"));
            assertThat(json(own).path("state").asText()).isEqualTo("completed");
            for (HttpRequest other : List.of(sharing.status(), sharing.status("Authorization", "Bearer b"))) {
                assertProblem(test.boundary().status(other), 404, Problem.KEY_UNKNOWN);
            }
        }
    }

    @ParameterizedTest
    @MethodSource
    @DisplayName("K7 a caller whose name cannot be a tenant is refused with 401, and is not taken for an anonymous one")
    void unusableTenant(String tenant) {
        try (TestBoundary test = Sharing.ANONYMOUS.boundary()) {
            Headers headers = Headers.of("Idempotency-Key", "k-1");
            HttpAnswer answer = test.send(request("POST", "/payments", headers, "{}", tenant));
            assertProblem(answer, 401, Problem.AUTHENTICATION_REQUIRED);
            assertThat(json(answer).path("detail").asText()).contains("the name of the authenticated caller");
            HttpRequest status = request("GET", "/status", headers, "", tenant);
            assertProblem(test.boundary().status(status), 401, Problem.AUTHENTICATION_REQUIRED);
            assertThat(test.effects).hasValue(0);
        }
    }

    static Stream<String> unusableTenant() {
        return Stream.of("", "x".repeat(5000), "a\u0000b", "line\nbreak", "\ud800");
    }

    @Test
    @DisplayName("K8 a tenant that is named as those without one are is still not theirs")
    void namesake() {
        Headers headers = Headers.of("Idempotency-Key", "k-1");
        HttpRequest authenticated = request("POST", "/payments", headers, "{}", "everybody");
        HttpRequest anonymous = request("POST", "/payments", headers, "{}", null);
        for (List<HttpRequest> order : List.of(List.of(authenticated, anonymous), List.of(anonymous, authenticated))) {
            try (TestBoundary test = Sharing.ANONYMOUS.boundary()) {
                test.send(order.get(0));
                assertProblem(test.send(order.get(1)), 422, Problem.KEY_REUSED);
                assertProblem(test.boundary().status(order.get(1)), 404, Problem.KEY_UNKNOWN);
                assertThat(test.send(order.get(0)).headers().has("Idempotent-Replayed"))
                        .isTrue();
                assertThat(test.boundary().status(order.get(0)).status()).isEqualTo(200);
                assertThat(test.effects).hasValue(1);
            }
        }
    }

    @Test
    @DisplayName("K8 each configured header counts, and a value cannot pass for two headers")
    void headers() {
        Sharing sharing = Sharing.CREDENTIALS;
        try (TestBoundary test = sharing.boundary()) {
            test.send(sharing.post("Authorization", "a", "X-Api-Key", "1"));
            assertProblem(test.send(sharing.post("Authorization", "a", "X-Api-Key", "2")), 422, Problem.KEY_REUSED);
            assertProblem(test.send(sharing.post("Authorization", "a")), 422, Problem.KEY_REUSED);
            assertThat(test.send(sharing.post("X-Api-Key", "1", "Authorization", "a"))
                            .status())
                    .isEqualTo(201);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "Authorization,Bearer a,Bearer b",
        "Cookie,session=a,session=b",
        "X-Api-Key,a,b",
        "Api-Key,a,b",
        "api_key,a,b",
        "apikey,a,b",
        "X-Auth-Token,a,b",
        "X-Access-Token,a,b"
    })
    @DisplayName("K8 every usual header of credentials counts by default, for the status of a key too")
    void usual(String header, String own, String other) {
        for (Sharing sharing : List.of(Sharing.ANONYMOUS, Sharing.USUAL)) {
            try (TestBoundary test = sharing.boundary()) {
                test.send(sharing.post(header, own));
                for (HttpRequest stranger : List.of(sharing.post(header, other), sharing.post())) {
                    assertProblem(test.send(stranger), 422, Problem.KEY_REUSED);
                }
                for (HttpRequest stranger : List.of(sharing.status(header, other), sharing.status())) {
                    assertProblem(test.boundary().status(stranger), 404, Problem.KEY_UNKNOWN);
                }
                assertThat(test.send(sharing.post(header, own)).headers().has("Idempotent-Replayed"))
                        .isTrue();
                assertThat(test.effects).hasValue(1);
            }
        }
    }

    @Test
    @DisplayName("K8 cookies count in any order, but not those that load balancers and analytics change at will")
    void cookies() {
        try (TestBoundary test = Sharing.USUAL.boundary()) {
            test.send(Sharing.USUAL.post("Cookie", "session=a; AWSALB=1; lang=de; _ga=GA1"));
            String later = "lang=de;session=a; AWSALB=2; AWSALBCORS=2; _ga=GA2; __cf_bm=x";
            assertThat(test.send(Sharing.USUAL.post("Cookie", later)).headers().has("Idempotent-Replayed"))
                    .isTrue();
            assertProblem(test.send(Sharing.USUAL.post("Cookie", "session=a")), 422, Problem.KEY_REUSED);
            assertProblem(test.send(Sharing.USUAL.post("Cookie", "session=b; lang=de")), 422, Problem.KEY_REUSED);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "_game_session",
                "_gatekeeper",
                "_gideon_session",
                "_gcl_session",
                "_fbpages_session",
                "_hjem_session",
                "__cf_bm_session",
                "nlbi_session",
                "awsalb",
                "AWSELBAuthSessionCookie-0"
            })
    @DisplayName("K8 a session counts whose name only begins like the cookie of a load balancer or of analytics")
    void sessions(String name) {
        try (TestBoundary test = Sharing.USUAL.boundary()) {
            test.send(Sharing.USUAL.post("Cookie", name + "=a"));
            assertProblem(test.send(Sharing.USUAL.post("Cookie", name + "=b")), 422, Problem.KEY_REUSED);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "AWSALB",
                "AWSALBTGCORS",
                "AWSALBAPP-3",
                "AWSELB",
                "ARRAffinitySameSite",
                "BIGipServer~Common~pool-web",
                "__cf_bm",
                "incap_ses_1234_567890",
                "visid_incap_567890",
                "nlbi_567890",
                "_ga",
                "_ga_1A2B3C4D5E",
                "_gat_UA-12345-6",
                "_gat_gtag_UA_12345_6",
                "_gcl_au",
                "_fbp",
                "_hjSessionUser_123456"
            })
    @DisplayName("a cookie of a load balancer, of bot protection or of analytics does not count")
    void passing(String name) {
        try (TestBoundary test = Sharing.USUAL.boundary()) {
            test.send(Sharing.USUAL.post("Cookie", "session=a; " + name + "=1"));
            HttpAnswer again = test.send(Sharing.USUAL.post("Cookie", "session=a; " + name + "=2"));
            assertThat(again.headers().has("Idempotent-Replayed")).isTrue();
        }
    }

    @Test
    @DisplayName("K8 a single cookie can be what counts; its name is spelt exactly")
    void oneCookie() {
        try (TestBoundary test = new TestBoundary(
                builder -> builder.operation(payments().build()).credentials(List.of("Cookie:session")))) {
            test.send(Sharing.USUAL.post("Cookie", "session=a; lang=de"));
            assertThat(test.send(Sharing.USUAL.post("Cookie", "lang=en; session=a"))
                            .headers()
                            .has("Idempotent-Replayed"))
                    .isTrue();
            for (String other : List.of("session=b; lang=de", "Session=a", "lang=de", "session=a; session=b")) {
                assertProblem(test.send(Sharing.USUAL.post("Cookie", other)), 422, Problem.KEY_REUSED);
            }
        }
    }

    @Test
    @DisplayName("a tenant of its own, or an empty list, says that credentials are not compared")
    void notCompared() {
        try (TestBoundary test = TestBoundary.of(Profile.ietf())) {
            test.send(Sharing.CREDENTIALS.post("Authorization", "a"));
            assertThat(test.send(Sharing.CREDENTIALS.post("Authorization", "b")).status())
                    .isEqualTo(201);
            assertThat(test.effects).hasValue(1);
        }
        try (TestBoundary test = new TestBoundary(builder ->
                builder.operation(payments().build()).anonymousTenant("all").credentials(List.of()))) {
            test.send(Sharing.ANONYMOUS.post("Authorization", "a"));
            assertThat(test.send(Sharing.ANONYMOUS.post("Authorization", "b")).status())
                    .isEqualTo(201);
            assertThat(test.effects).hasValue(1);
        }
    }

    @Test
    @DisplayName("F4 an entry that was stored without credentials still matches")
    void before() {
        Fingerprint plain = Fingerprint.ofJson("{}");
        Fingerprint bound = plain.boundTo("authorization 1 a\n");
        assertThat(bound).isNotEqualTo(plain);
        assertThat(bound.in(plain.version())).contains(plain);
        assertThat(plain.in(bound.version())).isEmpty();
        assertThat(bound.in(bound.version())).contains(bound);
    }

    @Test
    @DisplayName("the same credentials leave different traces in different entries")
    void salted() {
        byte[] one = Fingerprint.ofJson("1").boundTo("a").digest();
        byte[] two = Fingerprint.ofJson("2").boundTo("a").digest();
        assertThat(Arrays.copyOfRange(one, 16, 32)).isNotEqualTo(Arrays.copyOfRange(two, 16, 32));
    }
}
