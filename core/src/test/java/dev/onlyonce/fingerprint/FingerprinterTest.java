package dev.onlyonce.fingerprint;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.onlyonce.fingerprint.Fingerprinter.Request;
import dev.onlyonce.fingerprint.MalformedRequest.Reason;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("A fingerprinter")
class FingerprinterTest {
    private static final String JSON = "application/json";
    private static final String FORM = "application/x-www-form-urlencoded";

    @Test
    @DisplayName("F1 tells requests apart by method, path, query and body")
    void parts() {
        Set<Fingerprint> different = new HashSet<>();
        List<Request> requests = List.of(
                request("POST", "/payments", null, "{\"a\":1}"),
                request("PATCH", "/payments", null, "{\"a\":1}"),
                request("POST", "/payments/", null, "{\"a\":1}"),
                request("POST", "/Payments", null, "{\"a\":1}"),
                request("POST", "/p%61yments", null, "{\"a\":1}"),
                request("POST", "/payments", "x=1", "{\"a\":1}"),
                request("POST", "/payments", "x=1&y=2", "{\"a\":1}"),
                request("POST", "/payments", "y=2&x=1", "{\"a\":1}"),
                request("POST", "/payments", "x=%31", "{\"a\":1}"),
                request("POST", "/payments", null, "{\"a\":2}"),
                request("POST", "/payments", null, "{\"a\":\"1\"}"),
                request("POST", "/payments", null, "{\"a\":1,\"b\":null}"),
                request("POST", "/payments", null, "[1]"),
                request("POST", "/payments", null, ""));
        for (Request request : requests) {
            different.add(Fingerprinter.standard().fingerprint(request));
        }
        assertThat(different).hasSameSizeAs(requests);
    }

    @Test
    @DisplayName("F1 never takes the end of one part for the beginning of the next")
    void boundaries() {
        assertThat(of(request("POST", "/a", "b", "1"))).isNotEqualTo(of(request("POST", "/ab", null, "1")));
        assertThat(of(request("POST", "/a", null, "1"))).isNotEqualTo(of(request("POST/", "a", null, "1")));
        assertThat(of(request("POST", "/", "a", ""))).isNotEqualTo(of(bytes("POST", "/", null, "a")));
        Fingerprinter headers = Fingerprinter.builder().headers("a", "ab", "b").build();
        assertThat(headers.fingerprint(with(Map.of("a", List.of("bc")))))
                .isNotEqualTo(headers.fingerprint(with(Map.of("ab", List.of("c")))));
        assertThat(headers.fingerprint(with(Map.of("a", List.of("x"), "b", List.of("y")))))
                .isNotEqualTo(headers.fingerprint(with(Map.of("a", List.of("y"), "b", List.of("x")))));
    }

    @Test
    @DisplayName("does not depend on the case of the method or on an empty query")
    void sameRequest() {
        assertThat(of(request("post", "/a", null, "1"))).isEqualTo(of(request("POST", "/a", "", "1")));
    }

    @Test
    @DisplayName("F2 compares JSON by its meaning")
    void json() {
        String json = "{\"amount\": 10.0, \"to\": {\"name\": \"Zoë\", \"iban\": \"X\"}}";
        String respelled = "{\"to\":{\"iban\":\"X\",\"name\":\"Zo\\u00eb\"},\"amount\":1e1}";
        assertThat(of(json)).isEqualTo(of(respelled));
        assertThat(of("9007199254740993")).isNotEqualTo(of("9007199254740992"));
        assertThat(of("0.1")).isNotEqualTo(of("0.1000000000000000055511151231257827"));
        assertThat(of("1e400")).isNotEqualTo(of("1e401"));
        assertThat(refused("{\"a\":1,\"a\":1}", JSON)).isEqualTo(Reason.DUPLICATE_MEMBER);
    }

    @ParameterizedTest
    @DisplayName("F2 knows JSON by its content type")
    @ValueSource(
            strings = {
                "application/json",
                "Application/JSON",
                " application/json ; charset=UTF-8",
                "application/json;charset=\"utf-8\"",
                "application/json;v=1; Charset=utf8",
                "application/json;charset=us-ascii",
                "text/json",
                "application/merge-patch+json",
                "application/vnd.api+json;ext=x"
            })
    void jsonContentTypes(String contentType) {
        assertThat(of("{ }", contentType)).isEqualTo(of("{}", JSON));
        assertThat(refused("{", contentType)).isEqualTo(Reason.MALFORMED_JSON);
    }

    @ParameterizedTest
    @DisplayName("F2 compares byte for byte what it does not know")
    @ValueSource(
            strings = {
                "text/plain",
                "application/xml",
                "application/jsonx",
                "application/x-ndjson",
                "json",
                "",
                "multipart/form-data; boundary=x",
                "application/json;charset=iso-8859-1",
                "application/json;charset=utf-16"
            })
    void opaque(String contentType) {
        assertThat(of("{ }", contentType)).isNotEqualTo(of("{}", contentType)).isEqualTo(of("{ }", null));
        assertThat(of("{", contentType)).isNotNull();
    }

    @Test
    @DisplayName("F2 compares compressed bodies byte for byte")
    void compressed() throws IOException {
        ByteArrayOutputStream zipped = new ByteArrayOutputStream();
        try (GZIPOutputStream zip = new GZIPOutputStream(zipped)) {
            zip.write("{}".getBytes(UTF_8));
        }
        Map<String, List<String>> gzip = Map.of("Content-Encoding", List.of("gzip"));
        assertThat(of(new Request("POST", "/", null, gzip, JSON, zipped.toByteArray())))
                .isNotNull();

        Map<String, List<String>> identity = Map.of("content-encoding", List.of("identity"));
        assertThat(of(new Request("POST", "/", null, identity, JSON, "{ }".getBytes(UTF_8))))
                .isEqualTo(of("{}"));
    }

    @Test
    @DisplayName("takes no bytes for no body, whatever the content type")
    void noBody() {
        assertThat(of("", JSON)).isEqualTo(of("", null)).isEqualTo(of("", FORM));
    }

    @ParameterizedTest
    @DisplayName("F2 takes forms with the same names and values for the same")
    @CsvSource({
        "a=1&b=2, a=1&b=2&",
        "a=1&b=2, a=1&&b=2",
        "a=x+y, a=x%20y",
        "a=%2f, a=/",
        "a=%c3%A9, a=é",
        "a, a=",
        "a==, a=%3D",
        "a=%2b, a=%2B"
    })
    void sameForm(String form, String other) {
        assertThat(of(form, FORM)).isEqualTo(of(other, FORM + ";charset=UTF-8"));
    }

    @ParameterizedTest
    @DisplayName("F2 takes forms with other names, values or order for different")
    @CsvSource({
        "a=1&b=2, b=2&a=1",
        "a=1&b=2, a=1%26b=2",
        "a=1, a%3D1",
        "a=1, a=1&a=1",
        "a=b, ab=",
        "=a, a=",
        "a=+, a=%2B",
        "a=%00, a=",
        "a=1, A=1"
    })
    void differentForm(String form, String other) {
        assertThat(of(form, FORM)).isNotEqualTo(of(other, FORM));
    }

    @ParameterizedTest
    @DisplayName("F3 refuses a form with a bad percent sign")
    @ValueSource(strings = {"a=%", "a=%1", "a=%1&b", "%zz=1", "a=%-1", "a=1&b=%a", "%=ab"})
    void badForm(String form) {
        assertThat(refused(form, FORM)).isEqualTo(Reason.MALFORMED_FORM);
    }

    @Test
    @DisplayName("compares selected headers, and only those")
    void headers() {
        Fingerprinter version = Fingerprinter.builder().headers("X-Version").build();
        Fingerprint two = version.fingerprint(with(Map.of("x-version", List.of(" 2 "), "date", List.of("now"))));
        assertThat(version.fingerprint(with(Map.of("X-VERSION", List.of("2"))))).isEqualTo(two);
        assertThat(version.fingerprint(with(Map.of("X-VERSION", List.of("3"))))).isNotEqualTo(two);
        assertThat(version.fingerprint(with(Map.of()))).isNotEqualTo(two).isEqualTo(of("1"));
        assertThat(version.fingerprint(with(Map.of("x-version", List.of(""))))).isNotEqualTo(of("1"));
        assertThat(version.fingerprint(with(Map.of("x-version", List.of("1", "2")))))
                .isEqualTo(version.fingerprint(with(Map.of("x-version", List.of("1, 2")))))
                .isNotEqualTo(version.fingerprint(with(Map.of("x-version", List.of("2", "1")))));
    }

    @Test
    @DisplayName("ignores the configured members")
    void ignore() {
        Fingerprinter ignoring =
                Fingerprinter.builder().ignore("/sentAt", "/client/trace~1id").build();
        Fingerprint first = ignoring.fingerprint(json("{\"sentAt\":1,\"a\":1,\"client\":{\"trace/id\":7,\"v\":1}}"));
        assertThat(ignoring.fingerprint(json("{\"client\":{\"v\":1},\"a\":1,\"sentAt\":2}")))
                .isEqualTo(first);
        assertThat(ignoring.fingerprint(json("{\"client\":{\"v\":2},\"a\":1,\"sentAt\":2}")))
                .isNotEqualTo(first);
    }

    @ParameterizedTest
    @DisplayName("is not built with a pointer that is none")
    @ValueSource(strings = {"", "a", "#/a", "/a~", "/a~2", "/~b/c"})
    void badPointer(String pointer) {
        Fingerprinter.Builder builder = Fingerprinter.builder().ignore(pointer);
        assertThatThrownBy(builder::build).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @DisplayName("is not built with bad secrets or bounds")
    void badSettings() {
        byte[] secret = new byte[16];
        Fingerprinter.Builder builder = Fingerprinter.builder().secret(1, secret);
        assertThatThrownBy(() -> builder.secret(2, secret)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder.previousSecret(1, secret)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder.previousSecret(0, secret)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder.previousSecret(1 << 23, secret)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder.previousSecret(2, new byte[15])).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder.bodyBytesMax(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder.bodyBytesMax((1 << 26) + 1)).isInstanceOf(IllegalArgumentException.class);
        assertThat(builder.previousSecret((1 << 23) - 1, secret)
                        .build()
                        .fingerprint(json("1"))
                        .in(Integer.MAX_VALUE - 254))
                .isPresent();
    }

    @Test
    @DisplayName("F3 refuses bodies over its bound, and says that they are too large")
    void bodyBound() {
        Fingerprinter small = Fingerprinter.builder().bodyBytesMax(4).build();
        assertThat(small.fingerprint(json("1234"))).isNotNull();
        MalformedRequest refused = catchThrowableOfType(MalformedRequest.class, () -> small.fingerprint(json("12345")));
        assertThat(refused.reason()).isEqualTo(Reason.BODY_TOO_LARGE);
        assertThat(refused.tooLarge()).isTrue();
        assertThat(refused).hasMessage("the body has 5 bytes; the limit is 4");
        MalformedRequest malformed = catchThrowableOfType(MalformedRequest.class, () -> small.fingerprint(json("{")));
        assertThat(malformed.tooLarge()).isFalse();
    }

    @Test
    @DisplayName("refuses half a surrogate pair in the request line")
    void loneSurrogate() {
        MalformedRequest refused =
                catchThrowableOfType(MalformedRequest.class, () -> of(request("POST", "/\ud800", null, "1")));
        assertThat(refused.reason()).isEqualTo(Reason.LONE_SURROGATE);
    }

    private static Fingerprint of(Request request) {
        return Fingerprinter.standard().fingerprint(request);
    }

    private static Fingerprint of(String json) {
        return of(json(json));
    }

    private static Fingerprint of(String body, String contentType) {
        return of(new Request("POST", "/", null, Map.of(), contentType, body.getBytes(UTF_8)));
    }

    private static Reason refused(String body, String contentType) {
        return catchThrowableOfType(MalformedRequest.class, () -> of(body, contentType))
                .reason();
    }

    private static Request json(String body) {
        return request("POST", "/", null, body);
    }

    private static Request request(String method, String path, String query, String json) {
        return new Request(method, path, query, Map.of(), JSON, json.getBytes(UTF_8));
    }

    private static Request bytes(String method, String path, String query, String body) {
        return new Request(method, path, query, Map.of(), null, body.getBytes(ISO_8859_1));
    }

    private static Request with(Map<String, List<String>> headers) {
        return new Request("POST", "/", null, headers, JSON, "1".getBytes(UTF_8));
    }
}
