package dev.onlyonce.sqs;

import static java.util.stream.Collectors.joining;

import dev.onlyonce.Codec;
import dev.onlyonce.messages.adapter.DeadLetterHeaders;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;

/** Message attributes of SQS: at most ten, with values that are not empty. */
final class Attributes {
    /** SQS allows this many. */
    static final int MAX = 10;

    private static final String STRING = "String";
    private static final String BINARY = "Binary";

    private Attributes() {}

    /** A text. Characters that SQS refuses become spaces. */
    static MessageAttributeValue text(String value) {
        String plain = value.codePoints()
                .map(c -> isAllowed(c) ? c : ' ')
                .mapToObj(Character::toString)
                .collect(joining());
        return MessageAttributeValue.builder()
                .dataType(STRING)
                .stringValue(plain.isEmpty() ? " " : plain)
                .build();
    }

    /** Whether SQS carries a text as it is. */
    static boolean isText(String value) {
        return !value.isEmpty() && value.codePoints().allMatch(Attributes::isAllowed);
    }

    /** The characters of XML 1.0. */
    private static boolean isAllowed(int c) {
        return c == '\t'
                || c == '\n'
                || c == '\r'
                || (c >= ' ' && c <= 0xd7ff)
                || (c >= 0xe000 && c <= 0xfffd)
                || c >= 0x10000;
    }

    static byte[] bytes(MessageAttributeValue value) {
        SdkBytes binary = value.binaryValue();
        return binary != null
                ? binary.asByteArray()
                : String.valueOf(value.stringValue()).getBytes(StandardCharsets.UTF_8);
    }

    /** All in one: a JSON object with the type and the value of each; binary values are Base64. */
    static MessageAttributeValue folded(Map<String, MessageAttributeValue> attributes) {
        Map<String, Map<String, String>> all = new TreeMap<>();
        attributes.forEach((name, value) -> {
            Map<String, String> one = new LinkedHashMap<>();
            one.put("type", value.dataType());
            one.put(
                    "value",
                    value.binaryValue() != null
                            ? Base64.getEncoder().encodeToString(bytes(value))
                            : String.valueOf(value.stringValue()));
            all.put(name, one);
        });
        return text(new String(Codec.json(Map.class).encode(all), StandardCharsets.UTF_8));
    }

    /**
     * The attributes with which a message was sent first. A dead letter that is sent again as it is has them folded into one, and would be
     * without its id otherwise.
     */
    static Map<String, MessageAttributeValue> own(Map<String, MessageAttributeValue> attributes) {
        Map<String, MessageAttributeValue> own = new LinkedHashMap<>();
        MessageAttributeValue folded = attributes.get(DeadLetterQueue.ATTRIBUTES);
        if (folded != null) {
            own.putAll(unfolded(folded));
        }
        attributes.forEach((name, value) -> {
            if (!name.startsWith(DeadLetterHeaders.PREFIX)) {
                own.put(name, value);
            }
        });
        return own;
    }

    private static Map<String, MessageAttributeValue> unfolded(MessageAttributeValue folded) {
        Map<String, MessageAttributeValue> all = new LinkedHashMap<>();
        try {
            Map<?, ?> read = Codec.json(Map.class).decode(bytes(folded));
            read.forEach((name, one) -> all.put(String.valueOf(name), value((Map<?, ?>) one)));
            return all;
        } catch (RuntimeException e) {
            // Somebody else's: it stays as it is.
            return Map.of(DeadLetterQueue.ATTRIBUTES, folded);
        }
    }

    private static MessageAttributeValue value(Map<?, ?> one) {
        String type = String.valueOf(one.get("type"));
        String value = String.valueOf(one.get("value"));
        MessageAttributeValue.Builder builder = MessageAttributeValue.builder().dataType(type);
        return type.startsWith(BINARY)
                ? builder.binaryValue(SdkBytes.fromByteArray(Base64.getDecoder().decode(value)))
                        .build()
                : builder.stringValue(value).build();
    }
}
