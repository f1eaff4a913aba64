package dev.onlyonce.server.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Columns for people. */
final class Table {
    /** Controls, marks that change the direction of writing, and other ends of lines. */
    private static final Pattern INVISIBLE = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]");

    /** A path that people read at a glance; longer ones would push the next columns off the screen. */
    private static final int WIDE = 60;

    private final List<List<String>> rows = new ArrayList<>();

    Table(String... headings) {
        rows.add(List.of(headings));
    }

    void row(@Nullable Object... cells) {
        List<String> row = new ArrayList<>();
        for (Object cell : cells) {
            row.add(cell == null ? "-" : visible(cell.toString()));
        }
        rows.add(row);
    }

    /** What services and clients sent must not begin a line of its own or command the terminal: it is shown, not obeyed. */
    private static String visible(String text) {
        return INVISIBLE.matcher(text).replaceAll(found -> {
            int c = found.group().codePointAt(0);
            return Matcher.quoteReplacement(c == '\n' ? "\\n" : String.format(Locale.ROOT, "\\u%04x", c));
        });
    }

    /** A text as a cell of a list: one that is too wide is cut, at a whole character. */
    static @Nullable String cut(@Nullable String text) {
        if (text == null || text.length() <= WIDE) {
            return text;
        }
        int end = WIDE - 1;
        return text.substring(0, Character.isHighSurrogate(text.charAt(end - 1)) ? end - 1 : end) + "…";
    }

    void print(PrintWriter out) {
        int columns = rows.get(0).size();
        int[] widths = new int[columns];
        for (List<String> row : rows) {
            for (int i = 0; i < columns; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < columns; i++) {
                boolean last = i == columns - 1;
                line.append(row.get(i));
                if (!last) {
                    line.append(" ".repeat(widths[i] - row.get(i).length() + 2));
                }
            }
            out.println(line);
        }
    }
}
