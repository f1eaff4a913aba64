package dev.onlyonce.messages;

import dev.onlyonce.Key;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * What is the same for each delivery of a message, and for no other message.
 *
 * @param producer who made the id: ids are unique within a producer
 * @param id the id
 */
public record MessageIdentity(String producer, String id) {

    /**
     * The name space of the id: each consumer group applies each producer's message once. A name that is too long for an entry is
     * replaced by its digest.
     *
     * @throws PoisonMessage if the producer has control characters
     */
    public String source(String group) {
        // Two pairs never have the same source: only the separator is not escaped.
        String source = group.replace("%", "%25").replace("/", "%2F") + "/" + producer;
        if (source.length() > Key.NAME_LENGTH_MAX) {
            source = "sha256/" + digest(source);
        }
        try {
            Key.checkName("source", source);
        } catch (IllegalArgumentException e) {
            throw new PoisonMessage(DeadLetterReason.MALFORMED_ID, "its producer: " + e.getMessage(), e);
        }
        return source;
    }

    private static String digest(String text) {
        try {
            MessageDigest sha = MessageDigest.getInstance("SHA-256");
            return HexFormat.of().formatHex(sha.digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
