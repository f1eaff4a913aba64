package dev.onlyonce.spring.operations;

import dev.onlyonce.Key;
import dev.onlyonce.fingerprint.Fingerprint;

/**
 * The key that a call asks for, and the fingerprint of its arguments.
 *
 * @param isForgotten whether whoever asks forgets the request when it is answered, as a broker does: an answer from an earlier
 *     execution must last too
 */
public record KeyedCall(Key key, Fingerprint fingerprint, boolean isForgotten) {
    public KeyedCall(Key key, Fingerprint fingerprint) {
        this(key, fingerprint, false);
    }
}
