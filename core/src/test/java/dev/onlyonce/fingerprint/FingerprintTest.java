package dev.onlyonce.fingerprint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.onlyonce.fingerprint.Fingerprinter.Request;
import dev.onlyonce.fingerprint.MalformedRequest.Reason;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A fingerprint")
class FingerprintTest {
    private static final byte[] SECRET = "0123456789abcdef0123456789abcdef".getBytes(UTF_8);
    private static final byte[] OTHER_SECRET = "fedcba9876543210fedcba9876543210".getBytes(UTF_8);
    private static final Request PAYMENT = new Request(
            "POST", "/payments", null, Map.of(), "application/json", "{\"amount\":10,\"to\":\"bob\"}".getBytes(UTF_8));

    @Test
    @DisplayName("F4 of version 1 never changes: entries that are stored must still match")
    void golden() {
        assertThat(golden(Fingerprint.of("hello".getBytes(UTF_8))))
                .isEqualTo("1:752b7534fa29e8b5ecdb2cef2926e542e2ee3108fe7acb082012a76cbdb2a198");
        assertThat(golden(Fingerprint.of(new byte[0])))
                .isEqualTo("1:4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a");
        assertThat(golden(Fingerprint.ofJson("{\"b\": [1.50, 9007199254740993, \"é\"], \"a\": null}")))
                .isEqualTo("1:ee4dabd09449005cadc84d23cddce7bd32e8b0fe920b91a988cb191a84258ce2");
        assertThat(golden(Fingerprinter.standard()
                        .fingerprint(new Request(
                                "post",
                                "/payments",
                                "dry=1",
                                Map.of(),
                                "application/x-www-form-urlencoded",
                                "a=1&b=%C3%A9+x".getBytes(UTF_8)))))
                .isEqualTo("1:ec44efb8c26bbd1b305612b1033bf2fcf3e64448eeba583f4eaa8b0f16bc40dc");
        Fingerprinter sealed =
                Fingerprinter.builder().headers("X-B", "x-a").secret(5, SECRET).build();
        Request withHeaders = new Request(
                "POST", "/payments", null, Map.of("X-A", List.of("1", "2"), "x-b", List.of("")), null, new byte[] {0});
        assertThat(golden(sealed.fingerprint(withHeaders)))
                .isEqualTo("1281:80a41a83ba9a839fcfd28017f6ddd9122eea40e9fd0ca92f127650ca39d0d529");
    }

    @Test
    @DisplayName("F4 is made from the bytes that the reference describes")
    void format() throws Exception {
        byte[] expected = HexFormat.of()
                .parseHex(
                        "01" // algorithm
                                + "4d" + "00000004" + "504f5354" // M POST
                                + "50" + "00000009" + "2f7061796d656e7473" // P /payments
                                + "51" + "00000003" + "783d31" // Q x=1
                                + "48" + "00000002" + "7832" // H x2
                                + "56" + "00000001" + "79" // V y
                                + "4a" + "00000007" + "7b2261223a317d"); // J {"a":1}
        Request request = new Request(
                "POST",
                "/payments",
                "x=1",
                Map.of("X2", List.of("y")),
                "application/json",
                "{ \"a\": 1.0 }".getBytes(UTF_8));

        byte[] plain = MessageDigest.getInstance("SHA-256").digest(expected);
        Fingerprinter.Builder headers = Fingerprinter.builder().headers("X2");
        assertThat(headers.build().fingerprint(request).digest()).isEqualTo(plain);

        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(SECRET, "HmacSHA256"));
        Fingerprint sealed = headers.secret(3, SECRET).build().fingerprint(request);
        assertThat(sealed.digest()).isEqualTo(mac.doFinal(plain));
        assertThat(sealed.version()).isEqualTo((3 << 8) | 1);
    }

    @Test
    @DisplayName("is equal to another if version and digest are")
    void value() {
        Fingerprint one = Fingerprint.of(new byte[] {1});
        assertThat(one.version()).isEqualTo(1);
        assertThat(one.digest()).hasSize(Fingerprint.DIGEST_BYTES);
        assertThat(one).isEqualTo(Fingerprint.of(new byte[] {1})).hasSameHashCodeAs(Fingerprint.of(new byte[] {1}));
        assertThat(one).isNotEqualTo(Fingerprint.of(new byte[] {2}));
        assertThat(one).isNotEqualTo(Fingerprint.stored(2, one.digest()));
        assertThat(one).isEqualTo(Fingerprint.stored(1, one.digest()));
        assertThat(one.matches(Fingerprint.stored(1, one.digest()))).isTrue();
        assertThat(one.matches(Fingerprint.stored(257, one.digest()))).isFalse();
        assertThat(one.matches(Fingerprint.of(new byte[] {2}))).isFalse();
    }

    @Test
    @DisplayName("cannot be changed through its digest")
    void immutable() {
        Fingerprint one = Fingerprint.of(new byte[] {1});
        byte[] digest = one.digest();
        Fingerprint stored = Fingerprint.stored(1, digest);
        digest[0]++;
        assertThat(one.digest()).isEqualTo(stored.digest()).isNotEqualTo(digest);
    }

    @Test
    @DisplayName("has 32 bytes, also when a store gives it")
    void length() {
        assertThatThrownBy(() -> Fingerprint.stored(1, new byte[31])).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @DisplayName("of JSON is not that of its bytes")
    void kinds() {
        assertThat(Fingerprint.ofJson("1")).isNotEqualTo(Fingerprint.of("1".getBytes(UTF_8)));
        assertThat(Fingerprint.ofJson("{\"é\":1}")).isEqualTo(Fingerprint.ofJson("{\"é\" : 1}".getBytes(UTF_8)));
    }

    @Test
    @DisplayName("F3 does not exist for malformed JSON, half surrogate pairs and bodies over 1 MiB")
    void malformed() {
        assertThat(refused(() -> Fingerprint.ofJson(""))).isEqualTo(Reason.MALFORMED_JSON);
        assertThat(refused(() -> Fingerprint.ofJson("\"\ud800\""))).isEqualTo(Reason.LONE_SURROGATE);
        assertThat(refused(() -> Fingerprint.of(new byte[(1 << 20) + 1]))).isEqualTo(Reason.BODY_TOO_LARGE);
        assertThat(Fingerprint.of(new byte[1 << 20])).isNotNull();
    }

    @Test
    @DisplayName("F4 with a new secret still matches what the old secret and no secret made")
    void rotation() {
        Fingerprint plain = Fingerprinter.standard().fingerprint(PAYMENT);
        Fingerprint first = fingerprinter().secret(1, SECRET).build().fingerprint(PAYMENT);
        Fingerprint second = fingerprinter()
                .secret(2, OTHER_SECRET)
                .previousSecret(1, SECRET)
                .build()
                .fingerprint(PAYMENT);

        assertThat(List.of(plain.version(), first.version(), second.version())).containsExactly(1, 257, 513);
        assertThat(second.in(1)).contains(plain);
        assertThat(second.in(257)).contains(first);
        assertThat(second.in(513)).containsSame(second);
        assertThat(second.in(257).orElseThrow().in(513)).contains(second);
        assertThat(first.digest()).isNotEqualTo(plain.digest()).isNotEqualTo(second.digest());
        assertThat(fingerprinter()
                        .previousSecret(1, SECRET)
                        .build()
                        .fingerprint(PAYMENT)
                        .in(257))
                .contains(first);
    }

    @Test
    @DisplayName("F4 says so if it cannot tell what it would be in another version")
    void unknownVersion() {
        Fingerprint first = fingerprinter().secret(1, SECRET).build().fingerprint(PAYMENT);
        assertThat(first.in(513)).isEmpty();
        assertThat(first.in(2)).isEmpty();
        assertThat(first.in(0)).isEmpty();
        assertThat(first.in(-255)).isEmpty();
        assertThat(Fingerprint.of(new byte[0]).in(257)).isEmpty();
        Fingerprint stored = Fingerprint.stored(257, first.digest());
        assertThat(stored.in(257)).containsSame(stored);
        assertThat(stored.in(1)).isEmpty();
    }

    @Test
    @DisplayName("does not show its digest in full")
    void shown() {
        Fingerprint one = Fingerprint.of(new byte[] {1});
        String hex = HexFormat.of().formatHex(one.digest());
        assertThat(one.toString()).contains(hex.substring(0, 8)).doesNotContain(hex.substring(0, 10));
    }

    @Test
    @DisplayName("carries its request's target through every version and binding, and never compares it")
    void target() {
        Fingerprinter fingerprinter = fingerprinter().secret(1, SECRET).build();
        Fingerprint none = fingerprinter.fingerprint(PAYMENT);
        Fingerprint about = none.about("POST /payments");
        assertThat(none.target()).isNull();
        assertThat(about.target()).isEqualTo("POST /payments");
        assertThat(about).isEqualTo(none).hasSameHashCodeAs(none);
        assertThat(about.matches(none.about("POST /refunds"))).isTrue();
        assertThat(about.in(1).orElseThrow().target()).isEqualTo("POST /payments");
        assertThat(about.boundTo("Bearer x").target()).isEqualTo("POST /payments");
        assertThat(about.boundTo("Bearer x").in(2).orElseThrow().target()).isEqualTo("POST /payments");
        assertThat(none.boundTo("Bearer x").about("POST /payments").in(2).orElseThrow())
                .isEqualTo(about.boundTo("Bearer x").in(2).orElseThrow());
        assertThat(about.about(null).target()).isNull();
        assertThat(about.about("").target()).isNull();
        assertThat(Fingerprint.stored(1, about.digest(), "POST /payments").target())
                .isEqualTo("POST /payments");
        assertThat(Fingerprint.stored(1, about.digest()).target()).isNull();
        assertThat(about.toString()).isEqualTo(none.toString());
    }

    @Test
    @DisplayName("cuts a long target at a whole character and replaces what a terminal would not show")
    void targetText() {
        assertThat(target("x".repeat(512))).isEqualTo("x".repeat(512));
        assertThat(target("x".repeat(513))).isEqualTo("x".repeat(509) + "…");
        assertThat(target("x".repeat(10_000))).isEqualTo("x".repeat(509) + "…");
        assertThat(target("é".repeat(256))).isEqualTo("é".repeat(256));
        assertThat(target("é".repeat(257))).isEqualTo("é".repeat(254) + "…");
        assertThat(target("xx" + "😀".repeat(128))).isEqualTo("xx" + "😀".repeat(126) + "…");
        assertThat(target("😀".repeat(128))).isEqualTo("😀".repeat(128));
        assertThat(target("/%00%1b[31m")).isEqualTo("/%00%1b[31m");
        assertThat(target("a\0b\nc\u001b[31m\u007f\u009b")).isEqualTo("a�b�c�[31m��");
        assertThat(target("\u202eabc\u2028\u200b")).isEqualTo("�abc��");
        assertThat(target("\ud83d/\ude00")).isEqualTo("�/�");
        assertThat(target("\ud83d".repeat(10_000))).isEqualTo("�".repeat(169) + "…");
        assertThat(target(target("\ud83d".repeat(10_000)))).isEqualTo("�".repeat(169) + "…");
    }

    private static String target(String text) {
        String target = Fingerprint.of(new byte[0]).about(text).target();
        assertThat(target.getBytes(UTF_8)).hasSizeLessThanOrEqualTo(Fingerprint.TARGET_BYTES_MAX);
        return target;
    }

    private static Fingerprinter.Builder fingerprinter() {
        return Fingerprinter.builder();
    }

    private static Reason refused(ThrowingCallable call) {
        return catchThrowableOfType(MalformedRequest.class, call).reason();
    }

    private static String golden(Fingerprint fingerprint) {
        return fingerprint.version() + ":" + HexFormat.of().formatHex(fingerprint.digest());
    }
}
