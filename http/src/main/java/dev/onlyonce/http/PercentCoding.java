package dev.onlyonce.http;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** Texts in addresses. */
public final class PercentCoding {
    private static final String UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    private static final HexFormat HEX = HexFormat.of().withUpperCase();

    private PercentCoding() {}

    /** Everything but unreserved characters is encoded, so that it fits anywhere in an address. */
    static String encode(String text) {
        StringBuilder encoded = new StringBuilder();
        for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
            if (b > 0 && UNRESERVED.indexOf(b) >= 0) {
                encoded.append((char) b);
            } else {
                encoded.append('%').append(HEX.toHexDigits(b));
            }
        }
        return encoded.toString();
    }

    /** Decodes what is well-formed and leaves the rest as it is. */
    public static String decode(String text) {
        if (text.indexOf('%') < 0) {
            return text;
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream decoded = new ByteArrayOutputStream(bytes.length);
        for (int i = 0; i < bytes.length; i++) {
            int high = bytes[i] == '%' && i + 2 < bytes.length ? Character.digit(bytes[i + 1], 16) : -1;
            int low = high < 0 ? -1 : Character.digit(bytes[i + 2], 16);
            if (low < 0) {
                decoded.write(bytes[i]);
            } else {
                decoded.write(high << 4 | low);
                i += 2;
            }
        }
        return decoded.toString(StandardCharsets.UTF_8);
    }
}
