package dev.onlyonce.check.report;

/** Text for XML and HTML. */
final class Markup {
    private Markup() {}

    /** Nothing in it is markup. */
    static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;")
                .replace("'", "&#39;");
    }
}
