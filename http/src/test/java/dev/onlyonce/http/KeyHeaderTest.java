package dev.onlyonce.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onlyonce.MalformedKey;
import dev.onlyonce.MalformedKey.Reason;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("The Idempotency-Key header")
class KeyHeaderTest {

    @ParameterizedTest
    @DisplayName("K1 is one key, bare or quoted, whatever surrounds it")
    @ValueSource(
            strings = {
                "abc-123",
                "\"abc-123\"",
                " abc-123 ",
                "\t\"abc-123\" ",
                "\"abc-123\";a",
                "\"abc-123\";a=1;b=?0; c=\"x;,\\\"\";d=tok/en:1;e=:YWJj:;f=-1.5;*g",
                "\"abc-123\";  q=0"
            })
    void sameKey(String line) {
        assertThat(KeyHeader.parse(List.of(line))).isEqualTo("abc-123");
    }

    @ParameterizedTest
    @DisplayName("K1 is opaque: any visible character may be in a bare key, but quote, comma and semicolon")
    @ValueSource(
            strings = {
                "8e03978e-40d5-43e8-bc93-6894a57f9324",
                "order:42/line=7",
                "YWJj+/==",
                "a'b",
                "a\\b",
                "(1)",
                "?1",
                ":YWJj:",
                "!#$%&()*+-./:<=>?@[]^_`{|}~",
                "~"
            })
    void bare(String key) {
        assertThat(KeyHeader.parse(List.of(key))).isEqualTo(key);
    }

    @ParameterizedTest
    @DisplayName("K1 may have any visible character in quotes")
    @CsvSource(
            delimiter = ' ',
            quoteCharacter = '`',
            value = {"\"a,b\" a,b", "\"a;b\" a;b", "\"a\\\"b\" a\"b", "\"a\\\\b\" a\\b", "\"'a'\" 'a'"})
    void quoted(String line, String key) {
        assertThat(KeyHeader.parse(List.of(line))).isEqualTo(key);
    }

    @ParameterizedTest
    @DisplayName("K2 is refused when malformed")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "``|EMPTY",
                "`  \t`|EMPTY",
                "\"\"|EMPTY",
                "\"\";a=1|EMPTY",
                "a b|BAD_CHARACTER",
                "\"a b\"|BAD_CHARACTER",
                "\" a\"|BAD_CHARACTER",
                "a\tb|BAD_CHARACTER",
                "é|BAD_CHARACTER",
                "\"é\"|BAD_CHARACTER",
                "a\u007f|BAD_CHARACTER",
                "a\"b|BAD_CHARACTER",
                "a;b|BAD_CHARACTER",
                "abc;a=1|BAD_CHARACTER",
                "'abc'|BAD_QUOTING",
                "\"abc|BAD_QUOTING",
                "\"|BAD_QUOTING",
                "\"abc\\\"|BAD_QUOTING",
                "\"abc\\|BAD_QUOTING",
                "\"a\\bc\"|BAD_QUOTING",
                "\"abc\"d|BAD_QUOTING",
                "\"abc\" d|BAD_QUOTING",
                "\"abc\" ;a|BAD_QUOTING",
                "\"abc\";|BAD_QUOTING",
                "\"abc\";A|BAD_QUOTING",
                "\"abc\";a=|BAD_QUOTING",
                "\"abc\";a=?2|BAD_QUOTING",
                "\"abc\";a=:x|BAD_QUOTING",
                "\"abc\";a=\"x|BAD_QUOTING",
                "\"abc\";a=1.|BAD_QUOTING",
                "\"abc\";a=1234567890123456|BAD_QUOTING",
                "\"abc\";a=(|BAD_QUOTING",
                "a,b|SEVERAL",
                "a, a|SEVERAL",
                "\"a\", \"b\"|SEVERAL",
                "\"a\",\"a\"|SEVERAL",
                "\"a\";x=1 , b|SEVERAL"
            })
    void malformed(String line, Reason reason) {
        assertThat(refused(List.of(line))).isEqualTo(reason);
    }

    @Test
    @DisplayName("K2 is refused when missing, or sent twice, even with the same key")
    void notOneLine() {
        assertThat(refused(List.of())).isEqualTo(Reason.MISSING);
        assertThat(refused(List.of("a", "b"))).isEqualTo(Reason.SEVERAL);
        assertThat(refused(List.of("a", "a"))).isEqualTo(Reason.SEVERAL);
        assertThat(refused(List.of("", ""))).isEqualTo(Reason.SEVERAL);
    }

    @Test
    @DisplayName("K2 has 1 to 255 characters, counted without quotes and escapes")
    void length() {
        String longest = "k".repeat(255);
        assertThat(KeyHeader.parse(List.of(longest))).isEqualTo(longest);
        assertThat(KeyHeader.parse(List.of("\"" + longest + "\""))).isEqualTo(longest);
        assertThat(KeyHeader.parse(List.of("\"" + "\\\\".repeat(255) + "\""))).isEqualTo("\\".repeat(255));
        assertThat(refused(List.of(longest + "k"))).isEqualTo(Reason.TOO_LONG);
        assertThat(refused(List.of("\"" + longest + "k\""))).isEqualTo(Reason.TOO_LONG);
        assertThat(refused(List.of("k".repeat(1 << 20)))).isEqualTo(Reason.TOO_LONG);
    }

    @Test
    @DisplayName("K2 has no control and no non-ASCII character, bare or quoted")
    void characters() {
        for (char c = 0; c < 0x300; c++) {
            boolean visible = c > 0x20 && c < 0x7f;
            boolean special = c == '"' || c == '\\';
            List<String> quoted = List.of("\"x" + (special ? "\\" : "") + c + "x\"");
            if (visible) {
                assertThat(KeyHeader.parse(quoted)).isEqualTo("x" + c + "x");
            } else {
                assertThat(refused(quoted)).as("U+%04X", (int) c).isEqualTo(Reason.BAD_CHARACTER);
                assertThat(refused(List.of("x" + c + "x")))
                        .as("U+%04X", (int) c)
                        .isEqualTo(Reason.BAD_CHARACTER);
            }
        }
    }

    @Test
    @DisplayName("K5 never shows the key in a message")
    void message() {
        for (String line :
                List.of("sk-secret,", "sk-secret;", "\"sk-secret", "\"sk-secret\"x", "sk-secretü", "'sk-secret'")) {
            MalformedKey refused = catchThrowableOfType(MalformedKey.class, () -> KeyHeader.parse(List.of(line)));
            assertThat(refused.getMessage()).doesNotContain("secret");
        }
    }

    @ParameterizedTest
    @DisplayName("K1 is read as the published structured field vectors say")
    @ValueSource(strings = {"string", "string-generated"})
    void structuredFieldVectors(String name) throws IOException {
        JsonNode vectors;
        try (InputStream in = KeyHeaderTest.class.getResourceAsStream("/vectors/structured-fields/" + name + ".json")) {
            vectors = new ObjectMapper().readTree(in);
        }
        for (JsonNode vector : vectors) {
            List<String> raw = new ArrayList<>();
            vector.get("raw").forEach(line -> raw.add(line.textValue()));
            String what = vector.get("name").textValue();
            boolean mayFail = vector.path("can_fail").booleanValue();
            if (vector.path("must_fail").booleanValue() || (mayFail && raw.size() > 1)) {
                assertThat(refused(raw)).as(what).isNotNull();
                continue;
            }
            String expected = vector.get("expected").get(0).textValue();
            assertThat(new StructuredString(raw.get(0)).parse()).as(what).isEqualTo(expected);
            // A key is such a string without spaces, not empty and not too long.
            boolean key = !expected.isEmpty() && expected.length() <= 255 && expected.indexOf(' ') < 0;
            if (key) {
                assertThat(KeyHeader.parse(raw)).as(what).isEqualTo(expected);
            } else {
                assertThat(refused(raw)).as(what).isIn(Reason.EMPTY, Reason.BAD_CHARACTER, Reason.TOO_LONG);
            }
        }
        assertThat(vectors).hasSizeGreaterThan(10);
    }

    private static Reason refused(List<String> lines) {
        MalformedKey refused = catchThrowableOfType(MalformedKey.class, () -> KeyHeader.parse(lines));
        return refused == null ? null : refused.reason();
    }
}
