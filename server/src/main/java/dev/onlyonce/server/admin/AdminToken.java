package dev.onlyonce.server.admin;

import dev.onlyonce.server.config.OwnerOnly;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/** The operators' credential. */
public final class AdminToken {
    /** Its name in the data directory. */
    public static final String FILE = "admin-token";

    private static final int RANDOM_BYTES = 32;
    private static final int CHARS_MIN = 16;

    private final byte[] token;

    private AdminToken(String token) {
        this.token = token.getBytes(StandardCharsets.UTF_8);
    }

    /**
     * From the given file, or from the data directory, where one is made at the first start that only its owner can read.
     *
     * @throws IllegalArgumentException if the file is empty, too short, or can be read by others
     */
    public static AdminToken load(@Nullable Path given, Path data) {
        Path file = given == null ? data.resolve(FILE) : given;
        try {
            if (given == null) {
                createIfMissing(file);
            }
            OwnerOnly.check(file);
            return new AdminToken(read(file));
        } catch (IOException e) {
            throw new UncheckedIOException("the credential " + file + " cannot be read: " + e.getMessage(), e);
        }
    }

    private static void createIfMissing(Path file) throws IOException {
        byte[] random = new byte[RANDOM_BYTES];
        new SecureRandom().nextBytes(random);
        try {
            // Made with its permissions: there is no moment at which others could read it.
            Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        } catch (FileAlreadyExistsException e) {
            return;
        }
        Files.writeString(
                file,
                Base64.getUrlEncoder().withoutPadding().encodeToString(random) + "\n",
                StandardOpenOption.TRUNCATE_EXISTING);
    }

    /** The token in a file, for clients. */
    public static String read(Path file) throws IOException {
        String token = Files.readString(file).strip();
        if (token.length() < CHARS_MIN) {
            throw new IllegalArgumentException(
                    "the credential in " + file + " has less than " + CHARS_MIN + " characters");
        }
        return token;
    }

    /** Whether this is it; takes the same time whatever is wrong with it. */
    boolean matches(@Nullable String authorization) {
        if (authorization == null || !authorization.regionMatches(true, 0, "Bearer ", 0, 7)) {
            return false;
        }
        byte[] given = authorization.substring(7).trim().getBytes(StandardCharsets.UTF_8);
        return MessageDigest.isEqual(token, given);
    }
}
