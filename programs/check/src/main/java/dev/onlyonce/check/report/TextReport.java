package dev.onlyonce.check.report;

import dev.onlyonce.check.CheckReport;
import dev.onlyonce.check.CheckResult;
import dev.onlyonce.check.CheckResult.Kind;
import dev.onlyonce.check.RoundTrip;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A report for a terminal. */
public final class TextReport {
    private static final int COLUMN = 64;
    private static final int LINES_MAX = 40;
    private static final String INDENT = " ".repeat(6);

    private final boolean colours;

    /** With colours only where a terminal shows them. */
    public TextReport(boolean colours) {
        this.colours = colours;
    }

    /** One entry for each check, the exchanges of each failure side by side, and the grade. */
    public String of(CheckReport report) {
        StringBuilder text = new StringBuilder();
        for (CheckResult result : report.results()) {
            text.append("%s  %-16s  %s\n"
                    .formatted(
                            mark(result.kind()),
                            result.check().id(),
                            result.check().title()));
            text.append(INDENT).append(dim(result.detail())).append('\n');
        }
        for (CheckResult result : report.of(Kind.FAIL)) {
            text.append('\n').append(failure(result));
        }
        return text.append('\n').append(summary(report)).toString();
    }

    private String summary(CheckReport report) {
        String colour = report.isPassed() ? "32" : "31";
        return "%s  %d passed, %d failed, %d not asked for, %d not applicable; effects %s; %s\n"
                .formatted(
                        colour(colour, "Grade " + report.grade()),
                        report.of(Kind.PASS).size(),
                        report.of(Kind.FAIL).size(),
                        report.of(Kind.NOT_ASKED).size(),
                        report.of(Kind.NOT_APPLICABLE).size(),
                        report.counted() ? "counted" : "inferred from the answers",
                        report.target());
    }

    private String failure(CheckResult result) {
        StringBuilder text = new StringBuilder();
        text.append(colour("31", result.check().id() + ": " + result.detail())).append('\n');
        asked(text, "IETF draft", result.check().ietf());
        asked(text, "Stripe", result.check().stripe());
        asked(text, "Onlyonce", result.check().onlyonce());
        List<RoundTrip> trips = result.evidence();
        if (trips.size() == 1) {
            sideBySide(text, trips.get(0).request().shown(), trips.get(0).shownAnswer());
        } else if (trips.size() > 1) {
            sideBySide(
                    text, trips.get(0).request().shown(), trips.get(1).request().shown());
            text.append(INDENT).append("-".repeat(2 * COLUMN + 3)).append('\n');
            sideBySide(text, trips.get(0).shownAnswer(), trips.get(1).shownAnswer());
        }
        return text.toString();
    }

    private static void asked(StringBuilder text, String who, String what) {
        if (!what.isEmpty()) {
            text.append(INDENT).append(who).append(": ").append(what).append('\n');
        }
    }

    private static void sideBySide(StringBuilder text, String left, String right) {
        List<String> one = wrapped(left);
        List<String> other = wrapped(right);
        for (int i = 0; i < Math.max(one.size(), other.size()); i++) {
            String line = String.format(
                    Locale.ROOT,
                    "%-" + COLUMN + "s | %s",
                    i < one.size() ? one.get(i) : "",
                    i < other.size() ? other.get(i) : "");
            text.append(INDENT).append(line.stripTrailing()).append('\n');
        }
    }

    private static List<String> wrapped(String text) {
        List<String> lines = new ArrayList<>();
        for (String line : text.split("\n")) {
            for (int from = 0; from == 0 || from < line.length(); from += COLUMN) {
                lines.add(line.substring(from, Math.min(line.length(), from + COLUMN)));
            }
        }
        return lines.size() <= LINES_MAX ? lines : lines.subList(0, LINES_MAX);
    }

    private String mark(Kind kind) {
        return switch (kind) {
            case PASS -> colour("32", "PASS");
            case FAIL -> colour("31", "FAIL");
            case NOT_ASKED -> dim("note");
            case NOT_APPLICABLE -> dim("n/a ");
        };
    }

    private String dim(String text) {
        return colour("2", text);
    }

    private String colour(String code, String text) {
        return colours ? "\u001b[" + code + "m" + text + "\u001b[0m" : text;
    }
}
