package dev.onlyonce.fingerprint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.RepeatedTest;

/** Random JSON, written in random ways. A failure names the seed; put it into {@link #SEED} to see it again. */
@DisplayName("The fingerprint of random JSON")
class FingerprintPropertyTest {
    private static final Long SEED = null;
    private static final int TEXTS = 200;
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final ObjectMapper MAPPER = JsonMapper.builder()
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .build();

    private final long seed = SEED != null ? SEED : System.nanoTime();
    private final Random random = new Random(seed);

    @RepeatedTest(10)
    @DisplayName("F2 does not depend on how it is written")
    void respelled() {
        for (int i = 0; i < TEXTS; i++) {
            JsonNode value = value(4);
            String text = write(value);
            String other = write(value);
            assertThat(Fingerprint.ofJson(other))
                    .as("seed %d: %s and %s", seed, text, other)
                    .isEqualTo(Fingerprint.ofJson(text));
        }
    }

    @RepeatedTest(10)
    @DisplayName("F2 is equal to that of what another parser makes of it")
    void reserialised() throws Exception {
        for (int i = 0; i < TEXTS; i++) {
            String text = write(value(4));
            byte[] other = MAPPER.writerWithDefaultPrettyPrinter().writeValueAsBytes(MAPPER.readTree(text));
            assertThat(Fingerprint.ofJson(other)).as("seed %d: %s", seed, text).isEqualTo(Fingerprint.ofJson(text));
        }
    }

    @RepeatedTest(10)
    @DisplayName("F1 changes with any value in it")
    void changed() {
        for (int i = 0; i < TEXTS; i++) {
            JsonNode value = value(4);
            JsonNode other = change(value);
            String text = write(value);
            String changed = write(other);
            assertThat(Fingerprint.ofJson(changed))
                    .as("seed %d: %s and %s", seed, text, changed)
                    .isNotEqualTo(Fingerprint.ofJson(text));
        }
    }

    @RepeatedTest(3)
    @DisplayName("F2 differs if the values do")
    void noCollisions() {
        Map<Fingerprint, JsonNode> seen = new HashMap<>();
        for (int i = 0; i < 5 * TEXTS; i++) {
            JsonNode value = value(2);
            JsonNode twin = seen.putIfAbsent(Fingerprint.ofJson(write(value)), value);
            if (twin != null) {
                assertThat(same(twin, value))
                        .as("seed %d: %s and %s", seed, twin, value)
                        .isTrue();
            }
        }
    }

    private JsonNode value(int depth) {
        return switch (random.nextInt(depth == 0 ? 5 : 8)) {
            case 0 -> random.nextBoolean() ? NODES.nullNode() : NODES.booleanNode(random.nextBoolean());
            case 1 -> NODES.numberNode(random.nextInt(100) - 50);
            case 2 -> NODES.numberNode(decimal());
            case 3, 4 -> NODES.textNode(text());
            case 5 -> {
                ArrayNode array = NODES.arrayNode();
                for (int i = random.nextInt(5); i > 0; i--) {
                    array.add(value(depth - 1));
                }
                yield array;
            }
            default -> {
                ObjectNode object = NODES.objectNode();
                for (int i = random.nextInt(random.nextInt(10) == 0 ? 60 : 6); i > 0; i--) {
                    object.set(text(), value(depth - 1));
                }
                yield object;
            }
        };
    }

    private BigDecimal decimal() {
        BigInteger digits = new BigInteger(random.nextInt(120), random);
        return new BigDecimal(random.nextBoolean() ? digits : digits.negate(), random.nextInt(30) - 5);
    }

    private String text() {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(6); i > 0; i--) {
            int[] ranges = {0x20, 0x80, 0x80, 0x800, 0xD800, 0x110000};
            int point = random.nextInt(ranges[random.nextInt(ranges.length)]);
            text.appendCodePoint(point >= 0xD800 && point < 0xE000 ? 'x' : point);
        }
        return text.toString();
    }

    /** The same tree with one value changed. */
    private JsonNode change(JsonNode value) {
        if (value.isEmpty() || random.nextInt(3) == 0) {
            JsonNode other = value(2);
            return same(value, other) ? NODES.textNode("other than " + value) : other;
        }
        int at = random.nextInt(value.size());
        if (value instanceof ArrayNode array) {
            ArrayNode changed = array.deepCopy();
            changed.set(at, change(array.get(at)));
            return changed;
        }
        ObjectNode changed = value.deepCopy();
        String name = new ArrayList<>(names(value)).get(at);
        changed.set(name, change(value.get(name)));
        return changed;
    }

    private static boolean same(JsonNode one, JsonNode other) {
        return one.equals(
                (a, b) -> a.isNumber() && b.isNumber()
                        ? a.decimalValue().compareTo(b.decimalValue())
                        : a.equals(b) ? 0 : 1,
                other);
    }

    /** Writes a value in a random order of members, with random white space, escapes and spelling of numbers. */
    private String write(JsonNode value) {
        StringBuilder out = new StringBuilder();
        write(value, out);
        return new String(out.toString().getBytes(UTF_8), UTF_8);
    }

    private void write(JsonNode value, StringBuilder out) {
        space(out);
        if (value.isObject()) {
            List<String> names = names(value);
            Collections.shuffle(names, random);
            String comma = "{";
            for (String name : names) {
                out.append(comma);
                space(out);
                quote(name, out);
                space(out);
                out.append(':');
                write(value.get(name), out);
                comma = ",";
            }
            out.append(names.isEmpty() ? "{}" : "}");
        } else if (value.isArray()) {
            String comma = "[";
            for (JsonNode element : value) {
                out.append(comma);
                write(element, out);
                comma = ",";
            }
            out.append(value.isEmpty() ? "[]" : "]");
        } else if (value.isTextual()) {
            quote(value.textValue(), out);
        } else if (value.isNumber()) {
            number(value.decimalValue(), out);
        } else {
            out.append(value);
        }
        space(out);
    }

    private void number(BigDecimal value, StringBuilder out) {
        int exponent = random.nextInt(21) - 10;
        String digits = value.movePointLeft(exponent).toPlainString();
        out.append(digits);
        if (random.nextBoolean()) {
            out.append(digits.contains(".") ? "00" : ".0");
        }
        if (exponent != 0 || random.nextBoolean()) {
            out.append(random.nextBoolean() ? "e" : "E").append(exponent);
        }
    }

    private void quote(String text, StringBuilder out) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean pair = Character.isSurrogate(c);
            if (c < 0x20 || c == '"' || c == '\\' || (!pair && random.nextInt(8) == 0)) {
                out.append(String.format(random.nextBoolean() ? "\\u%04x" : "\\u%04X", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }

    private void space(StringBuilder out) {
        for (int i = random.nextInt(6) - 3; i > 0; i--) {
            out.append(" \t\r\n".charAt(random.nextInt(4)));
        }
    }

    private static List<String> names(JsonNode object) {
        List<String> names = new ArrayList<>();
        object.fieldNames().forEachRemaining(names::add);
        return names;
    }
}
