package dev.onlyonce.payments.web;

import org.springframework.boot.jackson.JacksonComponent;
import tools.jackson.core.JsonParser;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.ValueDeserializer;

/** Reads whole numbers however they are written, and nothing else: 12.0 is 12, but 1.5 is not 1 and "12" is no number. */
@JacksonComponent
final class WholeNumbers extends ValueDeserializer<Long> {
    @Override
    public Long deserialize(JsonParser parser, DeserializationContext context) {
        if (!parser.currentToken().isNumeric()) {
            return (Long) context.handleUnexpectedToken(Long.class, parser);
        }
        try {
            return parser.getDecimalValue().longValueExact();
        } catch (ArithmeticException e) {
            return (Long) context.handleWeirdNumberValue(Long.class, 0, "not a whole number that a long holds");
        }
    }
}
