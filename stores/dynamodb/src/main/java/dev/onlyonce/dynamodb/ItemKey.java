package dev.onlyonce.dynamodb;

import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.StoreRejected;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Map;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * The key of an entry's item: SHA-256 over the three parts of its id, each with its length before it. Over their chars: in UTF-8 half a
 * surrogate pair would be the same as a question mark.
 */
record ItemKey(SdkBytes hash) {
    /** How many partitions of the index each kind of work is spread over. Stored in the entries: it can only grow. */
    static final int SHARDS = 16;

    private static final int NAME_LENGTH_MAX = 255;

    static ItemKey of(EntryId id) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (String part : new String[] {id.tenant(), id.scope(), id.key()}) {
                ByteBuffer chars = ByteBuffer.allocate(Integer.BYTES + part.length() * Character.BYTES);
                chars.putInt(part.length()).asCharBuffer().put(part);
                digest.update(chars.array());
            }
            return new ItemKey(SdkBytes.fromByteArrayUnsafe(digest.digest()));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every JVM has SHA-256", e);
        }
    }

    AttributeValue value() {
        return AttributeValue.fromB(hash);
    }

    Map<String, AttributeValue> map() {
        return Map.of(Attribute.PK, value());
    }

    /** Where the index has this entry for a kind of work. */
    String due(IndexKind kind) {
        return kind.partition(hash.asByteArrayUnsafe()[0] & (SHARDS - 1));
    }

    /** Throws {@link StoreRejected} for a name that would not come back as it is. */
    static void check(String what, String name) {
        if (name.length() > NAME_LENGTH_MAX) {
            throw new StoreRejected(what + " has " + name.length() + " characters; at most " + NAME_LENGTH_MAX, null);
        }
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(name)) {
            throw new StoreRejected(what + " has half a surrogate pair", null);
        }
    }
}
