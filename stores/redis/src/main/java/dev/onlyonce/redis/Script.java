package dev.onlyonce.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Optional;

/**
 * A script that the server runs: its text, and the digest by which the server knows it.
 *
 * @param digest 40 hexadecimal digits
 */
record Script(byte[] text, byte[] digest) {

    /**
     * Reads a script that asks the time from the resource with its name.
     *
     * @param clock the text of a function {@code now}; the server's clock if there is none
     */
    static Script of(String name, Optional<String> clock) {
        return ofText(clock.orElseGet(() -> resource("clock")) + resource(name));
    }

    /** Reads a script that stands alone. */
    static Script alone(String name) {
        return ofText(resource(name));
    }

    private static Script ofText(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return new Script(bytes, HexFormat.of().formatHex(sha1(bytes)).getBytes(StandardCharsets.US_ASCII));
    }

    private static String resource(String name) {
        try (InputStream in = Objects.requireNonNull(Script.class.getResourceAsStream(name + ".lua"), name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] sha1(byte[] text) {
        try {
            return MessageDigest.getInstance("SHA-1").digest(text);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-1", e);
        }
    }
}
