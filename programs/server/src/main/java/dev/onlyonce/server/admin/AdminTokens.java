package dev.onlyonce.server.admin;

import dev.onlyonce.http.admin.TokenAccess;
import dev.onlyonce.server.config.OwnerOnly;
import dev.onlyonce.server.config.Settings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/** The credentials: the operators', and that of those who may only look. */
public final class AdminTokens {
    /** The name of the operators' in the data directory. */
    public static final String FILE = "admin-token";
    /** The name of the other one. */
    public static final String READ_FILE = "admin-read-token";

    private static final int RANDOM_BYTES = 32;
    private static final int CHARS_MIN = 16;

    private AdminTokens() {}

    /**
     * From the given files, or from the data directory, where they are made at the first start so that only its owner can read them.
     *
     * @throws IllegalArgumentException if a file is empty, too short, or can be read by others, or both credentials are the same
     */
    public static TokenAccess.Credentials load(Settings.Admin admin, Path data) {
        String operator = load(admin.tokenFile(), data.resolve(FILE));
        String reader = load(admin.console().readTokenFile(), data.resolve(READ_FILE));
        if (operator.equals(reader)) {
            throw new IllegalArgumentException(
                    "the credential of those who may only look is the operators': give them another one");
        }
        return new TokenAccess.Credentials(operator, reader);
    }

    private static String load(@Nullable Path given, Path otherwise) {
        Path file = given == null ? otherwise : given;
        try {
            if (given == null) {
                createIfMissing(file);
            }
            OwnerOnly.check(file);
            return read(file);
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
}
