package dev.onlyonce.fingerprint;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_16BE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.onlyonce.fingerprint.MalformedRequest.Reason;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("The canonical form of a JSON text")
class JsonCanonicalizerTest {

    @ParameterizedTest
    @DisplayName("is that of the published RFC 8785 vectors")
    @ValueSource(strings = {"arrays", "french", "sorting", "structures", "unicode", "values", "weird"})
    void vectors(String name) {
        byte[] input = Vectors.read("rfc8785/input/" + name + ".json");
        byte[] output = Vectors.read("rfc8785/output/" + name + ".json");

        assertThat(canonicalize(Doubles.round(input))).asString(UTF_8).isEqualTo(new String(output, UTF_8));
        assertThat(canonicalize(Doubles.round(output))).isEqualTo(output);
        // The one published text with a number that is not the shortest spelling of its double.
        if (!name.equals("values")) {
            assertThat(canonicalize(input)).isEqualTo(output);
        }
    }

    @Test
    @DisplayName("F2 keeps a number's exact value where RFC 8785 would round it")
    void exactNumbers() {
        assertThat(canonical("[333333333.33333329, 9007199254740993]"))
                .isEqualTo("[333333333.33333329,9007199254740993]");
        assertThat(new String(
                        canonicalize(Doubles.round("[333333333.33333329,9007199254740993]".getBytes(UTF_8))), UTF_8))
                .isEqualTo("[333333333.3333333,9007199254740992]");
    }

    @ParameterizedTest
    @DisplayName("F2 does not depend on white space, order or escapes")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                " [ ] |[]",
                "{ }|{}",
                " null |null",
                "\"\\u0041\\/\\u00e9\"|\"A/é\"",
                "{\"b\":{\"d\":1,\"c\":2},\"a\":[{\"z\":0,\"y\":[]}]}|{\"a\":[{\"y\":[],\"z\":0}],\"b\":{\"c\":2,\"d\":1}}",
                "{\"a\":1,\"c\":3,\"b\":{}}|{\"a\":1,\"b\":{},\"c\":3}",
                "{\"\\u0062\":1,\"a\":2}|{\"a\":2,\"b\":1}",
            })
    void form(String json, String canonical) {
        assertThat(canonical(json)).isEqualTo(canonical);
    }

    @Test
    @DisplayName("F2 of a large text is what it would be in parts: how it is parsed does not show")
    void large() {
        String part =
                "{\"b\":[1e2,-0.0,\"\\u0041é€😀\\n\"],\"a\\u0062\":{\"z\":null,\"é\":true},\"\":\"\\ud83d\\ude00\"}";
        int parts = 2_000;
        String texts = "[" + String.join(" ,\n", Collections.nCopies(parts, part)) + "]";
        assertThat(texts.length()).isGreaterThan(64 << 10);
        assertThat(canonical(texts))
                .isEqualTo("[" + String.join(",", Collections.nCopies(parts, canonical(part))) + "]");
        for (String broken : List.of(texts + "x", texts.replace("null", "nul"), texts.replace("\\ude00", "x"))) {
            assertThatThrownBy(() -> canonical(broken)).isInstanceOf(MalformedRequest.class);
        }
    }

    @Test
    @DisplayName("sorts many members as it sorts few")
    void manyMembers() {
        StringBuilder json = new StringBuilder("{");
        StringBuilder sorted = new StringBuilder("{");
        for (int i = 0; i < 1000; i++) {
            json.append(i > 0 ? "," : "")
                    .append("\"")
                    .append(1999 - i)
                    .append("\": ")
                    .append(i);
            sorted.append(i > 0 ? "," : "")
                    .append("\"")
                    .append(1000 + i)
                    .append("\":")
                    .append(999 - i);
        }
        assertThat(canonical(json + "}")).isEqualTo(sorted + "}");
    }

    @Test
    @DisplayName("ignores a byte order mark")
    void byteOrderMark() {
        assertThat(canonical("\uFEFF{}")).isEqualTo("{}");
        assertThat(refused("\uFEFF")).isEqualTo(Reason.MALFORMED_JSON);
        assertThat(refused("\uFEFF\uFEFF{}")).isEqualTo(Reason.MALFORMED_JSON);
    }

    @ParameterizedTest
    @DisplayName("F2 does not exist if a member comes twice")
    @ValueSource(
            strings = {
                "{\"a\":1,\"a\":1}",
                "{\"a\":1,\"b\":2,\"a\":3}",
                "{\"b\":1,\"a\":2,\"b\":3}",
                "[{\"x\":{\"a\":1,\"\\u0061\":1}}]",
                "{\"ä\":1,\"\\u00e4\":1}",
                "{\"😂\":1,\"\\ud83d\\ude02\":1}"
            })
    void duplicateMember(String json) {
        assertThat(refused(json)).isEqualTo(Reason.DUPLICATE_MEMBER);
    }

    @Test
    @DisplayName("may have the same name in different objects")
    void sameNameElsewhere() {
        assertThat(canonical("{\"a\":{\"a\":[{\"a\":1},{\"a\":1}]}}"))
                .isEqualTo("{\"a\":{\"a\":[{\"a\":1},{\"a\":1}]}}");
    }

    @ParameterizedTest
    @DisplayName("does not exist for half a surrogate pair")
    @ValueSource(strings = {"\"\\ud800\"", "\"\\udc00\"", "\"\\ud800x\"", "\"\\udc00\\ud800\""})
    void loneSurrogate(String json) {
        assertThat(refused(json)).isEqualTo(Reason.LONE_SURROGATE);
    }

    @Test
    @DisplayName("does not exist for half a surrogate pair in a name")
    void loneSurrogateInName() {
        // The parser refuses some of these before we see them.
        for (String name : List.of("\\ud83d", "\\ude02", "\\ud83dx", "\\ude02\\ud83d")) {
            assertThat(refused("{\"" + name + "\":1}")).isIn(Reason.LONE_SURROGATE, Reason.MALFORMED_JSON);
        }
    }

    @ParameterizedTest
    @DisplayName("does not exist for what is not JSON")
    @ValueSource(
            strings = {
                "", " ", "{", "[1", "[1,]", "{\"a\":1,}", "{\"a\"}", "{a:1}", "{'a':1}", "[1] [2]", "1 2", "nul", "NaN",
                "Infinity", "01", "+1", "1.", ".5", "1e", "-", "\"a", "\"\t\"", "\"\\x\"", "\"\\u12\"", "[1]]",
                        "/* */1",
                "1 // one", "\u00a01", "\u0000", "[\"a\" \"b\"]", "truefalse"
            })
    void malformed(String json) {
        assertThat(refused(json)).isEqualTo(Reason.MALFORMED_JSON);
    }

    @ParameterizedTest
    @DisplayName("does not exist for bytes that are not UTF-8")
    @ValueSource(
            strings = {
                "22 C0 80 22", // overlong NUL
                "22 C1 81 22", // overlong A
                "22 E0 80 AF 22", // overlong slash
                "22 ED A0 80 22", // an encoded surrogate
                "22 ED A0 BD ED B8 82 22", // a pair of them
                "22 F4 90 80 80 22", // beyond U+10FFFF
                "22 F8 88 80 80 80 22",
                "22 80 22",
                "22 E2 82 22",
                "22 FF 22",
                "22 41 41 41 41 41 41 41 41 C3"
            })
    void notUtf8(String hex) {
        assertThat(refused(HexFormat.ofDelimiter(" ").parseHex(hex))).isEqualTo(Reason.MALFORMED_UTF8);
    }

    @Test
    @DisplayName("is read as UTF-8 and nothing else")
    void otherEncodings() {
        assertThat(refused("\"é\"".getBytes(ISO_8859_1))).isEqualTo(Reason.MALFORMED_UTF8);
        assertThat(refused("[1]".getBytes(UTF_16BE))).isEqualTo(Reason.MALFORMED_JSON);
        assertThat(canonical("[\"é€😂\u07ff\u0800\uffff\"]")).isEqualTo("[\"é€😂\u07ff\u0800\uffff\"]");
    }

    @Test
    @DisplayName("F3 has at most 256 levels")
    void depth() {
        assertThat(canonical("[".repeat(256) + "]".repeat(256))).hasSize(512);
        assertThat(refused("[".repeat(257) + "]".repeat(257))).isEqualTo(Reason.TOO_DEEP);
        assertThat(refused("{\"a\":".repeat(257) + "1" + "}".repeat(257))).isEqualTo(Reason.TOO_DEEP);
    }

    @Test
    @DisplayName("says where it failed and never what was there")
    void message() {
        byte[] secret = "{\n  \"card\": 4111111111111111,\n  \"card\": \"topsecret\"\n}".getBytes(UTF_8);
        MalformedRequest duplicate = catchThrowableOfType(MalformedRequest.class, () -> canonicalize(secret));
        assertThat(duplicate)
                .hasMessage("an object has a member twice, line 3, column 3")
                .hasNoCause();

        byte[] broken = "{\n  \"card\": topsecret\n}".getBytes(UTF_8);
        MalformedRequest malformed = catchThrowableOfType(MalformedRequest.class, () -> canonicalize(broken));
        assertThat(malformed).hasMessageContaining("line 2").hasNoCause();
        assertThat(malformed.getMessage()).doesNotContain("topsecret", "card");
    }

    @ParameterizedTest
    @DisplayName("leaves out what is ignored")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "/a|{\"a\":1}|{}",
                "/a|{\"a\":{\"x\":[1,2]},\"b\":2}|{\"b\":2}",
                "/b|{\"a\":1,\"b\":2,\"c\":3}|{\"a\":1,\"c\":3}",
                "/b|{\"c\":1,\"b\":2,\"a\":3}|{\"a\":3,\"c\":1}",
                "/a/b|{\"a\":{\"b\":1,\"c\":2},\"b\":3}|{\"a\":{\"c\":2},\"b\":3}",
                "/a/1|{\"a\":[1,2,3]}|{\"a\":[1,3]}",
                "/a/0|{\"a\":[1]}|{\"a\":[]}",
                "/0|[1,2]|[2]",
                "/1/x|[{\"x\":1},{\"x\":2}]|[{\"x\":1},{}]",
                "/a|[{\"a\":1}]|[{\"a\":1}]",
                "/01|[1,2]|[1,2]",
                "/-|{\"-\":1,\"b\":[1]}|{\"b\":[1]}",
                "/a~1b|{\"a/b\":1,\"c\":2}|{\"c\":2}",
                "/m~0n|{\"m~n\":1,\"c\":2}|{\"c\":2}",
                "/~01|{\"~1\":1,\"/\":2}|{\"/\":2}",
                "/|{\"\":1,\"c\":2}|{\"c\":2}",
                "/a/b|{\"a\":7}|{\"a\":7}"
            })
    void ignored(String pointer, String json, String canonical) {
        assertThat(canonical(json, pointer)).isEqualTo(canonical);
    }

    @Test
    @DisplayName("leaves out everything that is ignored at once, and below")
    void severalIgnored() {
        assertThat(canonical("{\"a\":{\"b\":1},\"c\":[1,2,3],\"d\":4}", "/a", "/a/b", "/c/0", "/c/2", "/x/y"))
                .isEqualTo("{\"c\":[2],\"d\":4}");
    }

    @ParameterizedTest
    @DisplayName("does not exist if what is ignored is malformed")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"a\":1,\"a\":2}|DUPLICATE_MEMBER",
                "{\"a\":{\"b\":1,\"b\":1}}|DUPLICATE_MEMBER",
                "{\"a\":\"\\ud800\"}|LONE_SURROGATE",
                "{\"a\":1e1000000000}|EXPONENT_TOO_LARGE",
                "{\"a\":[}|MALFORMED_JSON"
            })
    void malformedIgnored(String json, Reason reason) {
        MalformedRequest refused = catchThrowableOfType(MalformedRequest.class, () -> canonical(json, "/a"));
        assertThat(refused.reason()).isEqualTo(reason);
    }

    private static String canonical(String json, String... ignored) {
        ByteBuilder out = new ByteBuilder(1);
        JsonCanonicalizer.append(json.getBytes(UTF_8), Ignored.at(List.of(ignored)), out);
        return new String(out.toByteArray(), UTF_8);
    }

    private static byte[] canonicalize(byte[] json) {
        ByteBuilder out = new ByteBuilder(1);
        JsonCanonicalizer.append(json, Ignored.NONE, out);
        return out.toByteArray();
    }

    private static Reason refused(String json) {
        return refused(json.getBytes(UTF_8));
    }

    private static Reason refused(byte[] json) {
        return catchThrowableOfType(MalformedRequest.class, () -> canonicalize(json))
                .reason();
    }
}
