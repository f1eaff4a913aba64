package dev.onlyonce.testkit.messages;

/** A message that no handler may see, and the reason that its dead letter has. */
public enum BadInput {
    /** There is no id. */
    MISSING_ID("missing_id"),
    /** The id is there, and empty. */
    EMPTY_ID("malformed_id"),
    /** The id has 10,000 characters. */
    LONG_ID("malformed_id"),
    /** The id has a control character. */
    CONTROL_IN_ID("malformed_id"),
    /** The id is not valid UTF-8. */
    ENCODING_OF_ID("undecodable"),
    /** The body cannot be decoded. */
    BODY("undecodable");

    private final String reason;

    BadInput(String reason) {
        this.reason = reason;
    }

    String reason() {
        return reason;
    }

    SentMessage message(String key) {
        byte[] body = SentMessage.bytes("bad");
        return switch (this) {
            case MISSING_ID -> new SentMessage(key, null, body);
            case EMPTY_ID -> new SentMessage(key, new byte[0], body);
            case LONG_ID -> new SentMessage(key, SentMessage.bytes("i".repeat(10_000)), body);
            case CONTROL_IN_ID -> new SentMessage(key, SentMessage.bytes("con\u0007trol"), body);
            case ENCODING_OF_ID -> new SentMessage(key, new byte[] {(byte) 0xc3, 0x28}, body);
            case BODY -> SentMessage.of(key, "undecodable", ConsumerSetup.UNDECODABLE);
        };
    }
}
