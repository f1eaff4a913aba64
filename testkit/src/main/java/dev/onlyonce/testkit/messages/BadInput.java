package dev.onlyonce.testkit.messages;

import java.util.function.UnaryOperator;

/** A message that no handler may see, and the reason that its dead letter has. */
public enum BadInput {
    /** There is no id. */
    MISSING_ID("missing_id", good -> new SentMessage(good.key(), null, good.body())),
    /** The id is there, and empty. */
    EMPTY_ID("malformed_id", good -> new SentMessage(good.key(), new byte[0], good.body())),
    /** The id has 10,000 characters. */
    LONG_ID("malformed_id", good -> new SentMessage(good.key(), SentMessage.bytes("i".repeat(10_000)), good.body())),
    /** The id has a control character. */
    CONTROL_IN_ID("malformed_id", good -> new SentMessage(good.key(), SentMessage.bytes("con\u0007trol"), good.body())),
    /** The id is not valid UTF-8. */
    ENCODING_OF_ID("undecodable", good -> new SentMessage(good.key(), new byte[] {(byte) 0xc3, 0x28}, good.body())),
    /** The body cannot be decoded. */
    BODY("undecodable", good -> SentMessage.of(good.key(), "undecodable", ConsumerSetup.UNDECODABLE));

    private final String reason;
    private final UnaryOperator<SentMessage> spoil;

    BadInput(String reason, UnaryOperator<SentMessage> spoil) {
        this.reason = reason;
        this.spoil = spoil;
    }

    String reason() {
        return reason;
    }

    SentMessage message(String key) {
        return spoil.apply(SentMessage.of(key, "spoilt", "bad"));
    }
}
