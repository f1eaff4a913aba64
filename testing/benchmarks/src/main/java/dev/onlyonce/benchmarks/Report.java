package dev.onlyonce.benchmarks;

import java.io.PrintStream;
import java.util.Locale;

/** Markdown, to the screen and into a file as it comes. */
final class Report {
    private final PrintStream screen;
    private final PrintStream file;

    Report(PrintStream screen, PrintStream file) {
        this.screen = screen;
        this.file = file;
    }

    void line(String format, Object... args) {
        String line = String.format(Locale.ROOT, format, args);
        screen.println(line);
        screen.flush();
        file.println(line);
        file.flush();
    }

    void title(String title) {
        line("");
        line("## %s", title);
        line("");
    }

    /** The first lines of a table; a column whose name starts with a blank is text, the others are numbers. */
    void header(String... columns) {
        StringBuilder names = new StringBuilder("|");
        StringBuilder rule = new StringBuilder("|");
        for (String column : columns) {
            names.append(' ').append(column.strip()).append(" |");
            rule.append(column.startsWith(" ") ? "---|" : "---:|");
        }
        line("%s", names);
        line("%s", rule);
    }
}
