package dev.onlyonce.check;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.DecimalNode;
import com.fasterxml.jackson.databind.node.IntNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The bodies that checks need: the same JSON written in another way, and other JSON. */
final class Json {
    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private Json() {}

    /** Null if it is not JSON. */
    static @Nullable JsonNode parse(byte[] text) {
        try {
            JsonNode node = MAPPER.readTree(text);
            return node == null || node.isMissingNode() ? null : node;
        } catch (IOException e) {
            return null;
        }
    }

    /** The same document with members in reverse order and more white space. */
    static String reserialised(JsonNode node) {
        try {
            return " " + MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(reversed(node)) + "\n";
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    private static JsonNode reversed(JsonNode node) {
        if (node instanceof ObjectNode object) {
            List<Map.Entry<String, JsonNode>> members = new ArrayList<>(object.properties());
            ObjectNode turned = MAPPER.createObjectNode();
            for (int i = members.size() - 1; i >= 0; i--) {
                turned.set(members.get(i).getKey(), reversed(members.get(i).getValue()));
            }
            return turned;
        }
        if (node instanceof ArrayNode array) {
            ArrayNode same = MAPPER.createArrayNode();
            array.forEach(element -> same.add(reversed(element)));
            return same;
        }
        return node;
    }

    /** A document with a value that differs from the given one, for each of its first values, however deep and however little. */
    static List<String> variations(ObjectNode object, int max) {
        List<String> others = new ArrayList<>();
        collect(object, object, others);
        return others.subList(0, Math.min(max, others.size()));
    }

    private static void collect(ObjectNode whole, JsonNode part, List<String> others) {
        if (part instanceof ObjectNode object) {
            for (Map.Entry<String, JsonNode> member : List.copyOf(object.properties())) {
                JsonNode value = member.getValue();
                for (JsonNode other : neighbours(value)) {
                    object.set(member.getKey(), other);
                    others.add(whole.toString());
                    object.set(member.getKey(), value);
                }
                collect(whole, value, others);
            }
        } else if (part instanceof ArrayNode array) {
            for (int i = 0; i < array.size(); i++) {
                collect(whole, array.get(i), others);
            }
        }
    }

    private static List<JsonNode> neighbours(JsonNode value) {
        if (value.isNumber()) {
            BigDecimal number = value.decimalValue();
            return List.of(
                    DecimalNode.valueOf(number.add(BigDecimal.ONE)),
                    DecimalNode.valueOf(number.add(new BigDecimal("0.001"))));
        }
        if (value instanceof TextNode text) {
            return List.of(TextNode.valueOf(text.asText() + "x"));
        }
        return value.isBoolean() ? List.of(BooleanNode.valueOf(!value.asBoolean())) : List.of();
    }

    /** The document with a member of the checks' own, some levels deep. */
    static String nested(ObjectNode object, int value) {
        ObjectNode other = object.deepCopy();
        other.putObject("onlyonce-check").putObject("nested").put("value", value);
        return other.toString();
    }

    /** Another document that the same API probably takes: one number or text is changed. */
    static String changed(ObjectNode object) {
        ObjectNode other = object.deepCopy();
        for (Map.Entry<String, JsonNode> member : object.properties()) {
            if (member.getValue().isIntegralNumber()) {
                other.put(member.getKey(), member.getValue().asLong() + 1);
                return other.toString();
            }
        }
        for (Map.Entry<String, JsonNode> member : object.properties()) {
            if (member.getValue() instanceof TextNode text) {
                other.put(member.getKey(), text.asText() + "x");
                return other.toString();
            }
        }
        return other.set("onlyonce-check", IntNode.valueOf(1)).toString();
    }
}
