package dev.onlyonce.servlet;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.Part;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.Serial;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * The body of a request, held within a bound.
 *
 * @param compared what is compared; one byte more than the bound if the body is larger
 * @param readable what the handler can read, which is nothing if somebody before us has had the container read a form. Empty
 *     if the container has taken apart a multipart body, and hands out its parts itself
 */
record RequestBody(byte[] compared, Optional<byte[]> readable) {
    /**
     * How much of a body that is too large is read and thrown away. Closing a connection with unread bytes resets it, and
     * the reset overtakes the answer; most clients that are over the bound are over it by less than this.
     */
    private static final int DISCARDED_BYTES_MAX = 1 << 20;

    /** The body is not what its content type says. */
    static final class Malformed extends Exception {
        @Serial
        private static final long serialVersionUID = 1;

        Malformed(Exception cause) {
            super(cause.getMessage(), cause, false, false);
        }
    }

    static RequestBody read(HttpServletRequest request, int bytesMax) throws IOException, Malformed {
        if (isMultipart(request.getContentType())) {
            return new RequestBody(multipart(request, bytesMax), Optional.empty());
        }
        byte[] bytes = raw(request, bytesMax);
        if (bytes.length == 0 && isForm(request.getContentType())) {
            // Somebody before us may have asked for a parameter: then the container has read the body.
            return new RequestBody(form(request.getParameterMap()), Optional.of(bytes));
        }
        return new RequestBody(bytes, Optional.of(bytes));
    }

    /** The bytes as they were sent; one more than the bound if the body is larger. */
    static byte[] raw(HttpServletRequest request, int bytesMax) throws IOException {
        byte[] bytes = request.getContentLengthLong() > bytesMax
                ? tooLarge(bytesMax)
                : request.getInputStream().readNBytes(bytesMax + 1);
        if (bytes.length > bytesMax) {
            discard(request.getInputStream());
        }
        return bytes;
    }

    static boolean isForm(@Nullable String contentType) {
        return startsWith(contentType, "application/x-www-form-urlencoded");
    }

    private static boolean isMultipart(@Nullable String contentType) {
        return startsWith(contentType, "multipart/form-data");
    }

    private static boolean startsWith(@Nullable String contentType, String type) {
        return contentType != null && contentType.toLowerCase(Locale.ROOT).startsWith(type);
    }

    private static byte[] tooLarge(int bytesMax) {
        return new byte[bytesMax + 1];
    }

    private static void discard(InputStream rest) throws IOException {
        byte[] buffer = new byte[8 << 10];
        int discarded = 0;
        int read = 0;
        while (read >= 0 && discarded < DISCARDED_BYTES_MAX) {
            discarded += read;
            read = rest.read(buffer);
        }
    }

    private static byte[] form(Map<String, String[]> parameters) {
        StringJoiner form = new StringJoiner("&");
        parameters.forEach((name, values) -> {
            for (String value : values) {
                form.add(URLEncoder.encode(name, StandardCharsets.UTF_8) + "="
                        + URLEncoder.encode(value, StandardCharsets.UTF_8));
            }
        });
        return form.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Names, types and digests of the parts: clients make a new boundary for every try, which must not matter. */
    private static byte[] multipart(HttpServletRequest request, int bytesMax) throws IOException, Malformed {
        Collection<Part> parts;
        try {
            parts = request.getParts();
        } catch (IllegalStateException overTheContainersLimit) {
            return tooLarge(bytesMax);
        } catch (IOException | ServletException e) {
            throw new Malformed(e);
        }
        if (parts.stream().mapToLong(Part::getSize).sum() > bytesMax) {
            return tooLarge(bytesMax);
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        for (Part part : parts) {
            write(out, part.getName());
            write(out, part.getSubmittedFileName());
            write(out, part.getContentType());
            out.write(sha256(part));
        }
        return bytes.toByteArray();
    }

    private static void write(DataOutputStream out, @Nullable String text) throws IOException {
        byte[] bytes = text == null ? new byte[0] : text.getBytes(StandardCharsets.UTF_8);
        out.writeInt(text == null ? -1 : bytes.length);
        out.write(bytes);
    }

    private static byte[] sha256(Part part) throws IOException {
        try (InputStream content = part.getInputStream();
                DigestOutputStream digest =
                        new DigestOutputStream(OutputStream.nullOutputStream(), MessageDigest.getInstance("SHA-256"))) {
            content.transferTo(digest);
            return digest.getMessageDigest().digest();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
