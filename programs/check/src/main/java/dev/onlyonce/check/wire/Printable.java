package dev.onlyonce.check.wire;

/** Text from the wire, safe for terminals and markup languages: no control characters but line breaks. */
public final class Printable {
    private Printable() {}

    /** Makes control characters visible. */
    public static String of(String text) {
        StringBuilder shown = new StringBuilder(text.length());
        text.codePoints().forEach(c -> {
            boolean unsafe = (Character.isISOControl(c) && c != '\n')
                    || Character.getType(c) == Character.FORMAT
                    || Character.getType(c) == Character.SURROGATE
                    || c == 0xFFFE
                    || c == 0xFFFF;
            if (c == '\r') {
                return;
            }
            if (unsafe) {
                shown.append("\\u%04x".formatted(c));
            } else {
                shown.appendCodePoint(c);
            }
        });
        return shown.toString();
    }
}
