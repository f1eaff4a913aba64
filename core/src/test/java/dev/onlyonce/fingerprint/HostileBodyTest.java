package dev.onlyonce.fingerprint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.onlyonce.fingerprint.Fingerprinter.Request;
import dev.onlyonce.fingerprint.MalformedRequest.Reason;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each of these takes milliseconds; the bound only has to tell that from minutes, on a machine that is busy. */
@DisplayName("A hostile body")
class HostileBodyTest {
    private static final Duration QUICK = Duration.ofSeconds(20);
    private static final int MEBIBYTE = 1 << 20;

    private final Fingerprinter ignoring =
            Fingerprinter.builder().ignore("/a/a/a/a", "/0/0/0/0", "/b").build();

    @Test
    @DisplayName("F3 of 10 MiB is too large, of any kind")
    void tenMebibytes() {
        byte[] body = new byte[10 * MEBIBYTE];
        Arrays.fill(body, (byte) '[');
        for (String contentType : new String[] {"application/json", "application/x-www-form-urlencoded", null}) {
            assertThat(refused(body, contentType).tooLarge()).isTrue();
        }
    }

    @ParameterizedTest
    @DisplayName("F3 of 100,000 levels is too deep, also where it is ignored")
    @ValueSource(strings = {"[", "{\"a\":", "[{\"a\":", "{\"b\":[", "[[],", "{\"b\":1,\"\":"})
    void deep(String level) {
        assertThat(refused(level.repeat(100_000))).isEqualTo(Reason.TOO_DEEP);
    }

    @ParameterizedTest
    @DisplayName("F3 with a huge exponent is refused without expanding it")
    @ValueSource(
            strings = {"1e1000000000", "-1E+2147483648", "1e-1000000000", "1e99999999999999999999", "0.1e-999999999"})
    void exponents(String number) {
        assertThat(refused("{\"amount\":" + number + "}")).isEqualTo(Reason.EXPONENT_TOO_LARGE);
    }

    @Test
    @DisplayName("F3 with a number of a mebibyte is refused")
    void longNumbers() {
        String digits = "9".repeat(MEBIBYTE - 10);
        assertThat(refused(digits)).isEqualTo(Reason.NUMBER_TOO_LONG);
        assertThat(refused("[-" + digits + "]")).isEqualTo(Reason.NUMBER_TOO_LONG);
        assertThat(refused("0." + digits)).isEqualTo(Reason.NUMBER_TOO_LONG);
        assertThat(refused("1e" + digits)).isEqualTo(Reason.NUMBER_TOO_LONG);
    }

    @Test
    @DisplayName("F3 with many long numbers costs no more than its length")
    void manyNumbers() {
        String numbers = ("9".repeat(900) + "e-99,").repeat(1100);
        assertThat(accepted("[" + numbers + "0]")).isNotNull();
        assertThat(accepted("[" + "1e20,".repeat(200_000) + "0]")).isNotNull();
    }

    @Test
    @DisplayName("F3 with 100,000 members of one name is refused")
    void duplicates() {
        assertThat(refused("{" + "\"a\":1,".repeat(100_000) + "\"b\":1}")).isEqualTo(Reason.DUPLICATE_MEMBER);
        assertThat(refused("{\"b\":1," + "\"a\":1,".repeat(100_000) + "\"c\":1}"))
                .isEqualTo(Reason.DUPLICATE_MEMBER);
    }

    @Test
    @DisplayName("F3 with as many members as fit, in the worst order, costs no more than sorting them")
    void manyMembers() {
        StringBuilder descending = new StringBuilder("{");
        StringBuilder shuffled = new StringBuilder("{");
        Random random = new Random(1);
        for (int i = 0; i < 69_000; i++) {
            descending.append(String.format("\"%06d\":0,", 999_999 - i));
            shuffled.append(String.format("\"%05x%05x\":0,", random.nextInt(1 << 20), i));
        }
        assertThat(accepted(descending + "\"\":0}")).isNotNull();
        assertThat(accepted(shuffled.substring(0, shuffled.length() - 1) + "}")).isNotNull();
    }

    @Test
    @DisplayName("F3 with every level out of order around a long string costs no more than copying it for each level")
    void nestedDisorder() {
        String text = "{\"b\":" + "\"" + "x".repeat(MEBIBYTE - 10_000) + "\",\"a\":0}";
        String nested = "{\"b\":".repeat(255) + text + ",\"a\":0}".repeat(255);
        assertThat(accepted(nested)).isNotNull();
    }

    @Test
    @DisplayName("F3 with one long name or many long names with one beginning is accepted")
    void longNames() {
        String prefix = "x".repeat(1000);
        StringBuilder names = new StringBuilder("{");
        for (int i = 0; i < 1000; i++) {
            names.append(String.format("\"%s%03d\":0,", prefix, 999 - i));
        }
        assertThat(accepted(names + "\"\":0}")).isNotNull();
        assertThat(accepted("{\"" + "x".repeat(MEBIBYTE - 100) + "\":1}")).isNotNull();
    }

    @Test
    @DisplayName("F3 with nothing but escapes is accepted")
    void escapes() {
        assertThat(accepted("\"" + "\\u0001".repeat(170_000) + "\"")).isNotNull();
        assertThat(accepted("\"" + "\\ud83d\\ude02".repeat(80_000) + "\"")).isNotNull();
    }

    @Test
    @DisplayName("F3 that is a form of empty or escaped pairs is accepted")
    void forms() {
        byte[] form = "&".repeat(MEBIBYTE).getBytes(UTF_8);
        byte[] escaped = "%00=&".repeat(MEBIBYTE / 5).getBytes(UTF_8);
        String type = "application/x-www-form-urlencoded";
        assertTimeoutPreemptively(QUICK, () -> ignoring.fingerprint(request(form, type)));
        assertTimeoutPreemptively(QUICK, () -> ignoring.fingerprint(request(escaped, type)));
    }

    private Fingerprint accepted(String json) {
        byte[] body = json.getBytes(UTF_8);
        assertThat(body.length).isLessThanOrEqualTo(MEBIBYTE);
        return assertTimeoutPreemptively(QUICK, () -> ignoring.fingerprint(request(body, "application/json")));
    }

    private Reason refused(String json) {
        return refused(json.getBytes(UTF_8), "application/json").reason();
    }

    private MalformedRequest refused(byte[] body, String contentType) {
        return assertTimeoutPreemptively(
                QUICK,
                () -> catchThrowableOfType(
                        MalformedRequest.class, () -> ignoring.fingerprint(request(body, contentType))));
    }

    private static Request request(byte[] body, String contentType) {
        return new Request("POST", "/", null, Map.of(), contentType, body);
    }
}
