package dev.onlyonce.fingerprint;

import dev.onlyonce.fingerprint.MalformedRequest.Reason;

/**
 * Writes an {@code application/x-www-form-urlencoded} body as the list of its names and values: each decoded to bytes and
 * preceded by its length, in the order of the body. As in the URL standard, empty pairs do not count and a name without an
 * equals sign has an empty value. Decoded bytes are not read as text, so that the charset does not matter.
 */
final class Form {
    private Form() {}

    static void append(byte[] form, ByteBuilder out) {
        int start = 0;
        while (start < form.length) {
            int end = indexOf(form, '&', start, form.length);
            if (end > start) {
                int equals = indexOf(form, '=', start, end);
                appendDecoded(form, start, equals, out);
                appendDecoded(form, Math.min(equals + 1, end), end, out);
            }
            start = end + 1;
        }
    }

    private static int indexOf(byte[] form, char wanted, int from, int to) {
        int i = from;
        while (i < to && form[i] != wanted) {
            i++;
        }
        return i;
    }

    private static void appendDecoded(byte[] form, int from, int to, ByteBuilder out) {
        int section = out.beginSection();
        for (int i = from; i < to; i++) {
            byte b = form[i];
            if (b == '%') {
                int high = i + 2 < to ? Character.digit(form[i + 1], 16) : -1;
                int low = i + 2 < to ? Character.digit(form[i + 2], 16) : -1;
                if (high < 0 || low < 0) {
                    throw new MalformedRequest(
                            Reason.MALFORMED_FORM,
                            "the form has a percent sign without two hexadecimal digits at byte " + (i + 1));
                }
                out.append(high << 4 | low);
                i += 2;
            } else {
                out.append(b == '+' ? ' ' : b);
            }
        }
        out.endSection(section);
    }
}
