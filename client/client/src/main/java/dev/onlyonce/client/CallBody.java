package dev.onlyonce.client;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** The body of a request: bytes that the journal keeps, or a file that the journal names together with its digest. */
public sealed interface CallBody {
    /** The most bytes that go into the journal; a larger body must be a file. */
    int BYTES_MAX = 1 << 20;

    /** How many bytes it has. */
    long length();

    /** The SHA-256 digest in hexadecimal. */
    String sha256();

    /**
     * Opens it for one attempt. Reading fails with {@link BodyChanged}, before the last block, if a file is not what it was.
     *
     * @throws BodyChanged if that can be seen at once
     */
    InputStream open() throws IOException;

    /**
     * Bytes, kept in the journal.
     *
     * @param bytes do not change them
     * @param sha256 their digest
     */
    record Bytes(byte[] bytes, String sha256) implements CallBody {
        @Override
        public long length() {
            return bytes.length;
        }

        @Override
        public InputStream open() {
            return new ByteArrayInputStream(bytes);
        }

        @Override
        public String toString() {
            return bytes.length + " bytes";
        }
    }

    /**
     * A file. Every attempt checks that it has not changed; a changed file is never sent whole.
     *
     * @param file where it is
     * @param length how many bytes it had
     * @param sha256 its digest then
     */
    record InFile(Path file, long length, String sha256) implements CallBody {
        @Override
        public InputStream open() throws IOException {
            return new VerifiedFile(this);
        }
    }

    /** No body. */
    static CallBody none() {
        return of(new byte[0]);
    }

    /** Throws {@link IllegalArgumentException} if there are more than {@link #BYTES_MAX} bytes. */
    static CallBody of(byte[] bytes) {
        if (bytes.length > BYTES_MAX) {
            throw new IllegalArgumentException(
                    "A body of " + bytes.length + " bytes does not go into the journal, which takes " + BYTES_MAX
                            + "; put it into a file and use CallBody.file(path)");
        }
        byte[] copy = bytes.clone();
        return new Bytes(copy, HexFormat.of().formatHex(digest().digest(copy)));
    }

    /** The text in UTF-8. */
    static CallBody of(String text) {
        return of(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Reads the file once for its digest. It must stay as it is until the answer is definitive. */
    static CallBody file(Path file) throws IOException {
        MessageDigest digest = digest();
        try (InputStream in = Files.newInputStream(file)) {
            long length = in.transferTo(new DigestOutputStream(OutputStream.nullOutputStream(), digest));
            return new InFile(file.toAbsolutePath(), length, HexFormat.of().formatHex(digest.digest()));
        }
    }

    /** SHA-256. */
    static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
