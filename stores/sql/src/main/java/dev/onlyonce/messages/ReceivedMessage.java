package dev.onlyonce.messages;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * A message as a broker delivered it.
 *
 * @param topic the topic or queue
 * @param coordinates the broker's own name for it, unique within the topic
 * @param headers in the broker's order; a name may occur more than once
 * @param body not copied: do not modify it
 */
public record ReceivedMessage(String topic, String coordinates, List<MessageHeader> headers, byte[] body) {

    /**
     * The last header of a name, as text.
     *
     * @throws PoisonMessage if it is not valid UTF-8
     */
    public Optional<String> header(String name) {
        for (int i = headers.size() - 1; i >= 0; i--) {
            if (headers.get(i).name().equals(name)) {
                return Optional.of(text("header " + name, headers.get(i).value()));
            }
        }
        return Optional.empty();
    }

    private static String text(String what, byte[] bytes) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new PoisonMessage(DeadLetterReason.UNDECODABLE, "the " + what + " is not valid UTF-8", e);
        }
    }
}
