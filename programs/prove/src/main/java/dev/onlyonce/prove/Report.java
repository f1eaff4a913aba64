package dev.onlyonce.prove;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The result of a round, as text and as one page of HTML that needs nothing else. */
final class Report {
    private static final int SHOWN_MAX = 10;
    /** Of the time that begins a line. */
    private static final int AT_WIDTH = 11;

    private static final String STYLE = "body{font:14px system-ui;max-width:75rem;margin:2rem auto;padding:0 1rem}"
            + "td,th{text-align:left;padding:.1rem .6rem;vertical-align:top}"
            + "tr.effect{background:#e3f4e3}tr.nemesis{color:#946200}tr.evict{background:#fdf1d0}"
            + "h2{color:#a40000}td:first-child{white-space:nowrap;font-variant-numeric:tabular-nums}";

    private Report() {}

    static List<String> text(Round.Result result) {
        List<String> lines = new ArrayList<>();
        Round.Plan plan = result.plan();
        lines.add("%s, seed %d, %d nodes, %d gateways, %d clients, %d s of faults%s"
                .formatted(
                        plan.store(),
                        plan.seed(),
                        plan.crew().nodes(),
                        plan.crew().gateways(),
                        plan.crew().clients(),
                        plan.load().toSeconds(),
                        plan.aim().plant() == Plant.NONE
                                ? ""
                                : ", planted: " + plan.aim().plant().label()));
        lines.add("  " + figures(result.figures()));
        if (result.violations().isEmpty()) {
            lines.add("  no violation");
        }
        for (Checker.Violation violation : shown(result)) {
            lines.add("  VIOLATION " + violation.work() + ": " + violation.what());
            result.history().timeline(violation.work()).forEach(line -> lines.add("    " + line));
        }
        if (result.violations().size() > SHOWN_MAX) {
            lines.add("  and " + (result.violations().size() - SHOWN_MAX) + " more violations");
        }
        return lines;
    }

    private static List<Checker.Violation> shown(Round.Result result) {
        List<Checker.Violation> all = result.violations();
        return all.subList(0, Math.min(SHOWN_MAX, all.size()));
    }

    static String figures(Map<String, Long> figures) {
        List<String> parts = new ArrayList<>();
        figures.forEach((name, value) -> parts.add(name + " " + value));
        return String.join(", ", parts);
    }

    /** Writes both, and returns the page. */
    static Path write(Round.Result result) {
        try {
            Files.write(result.folder().resolve("report.txt"), text(result));
            return Files.writeString(result.folder().resolve("report.html"), html(result));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String html(Round.Result result) {
        StringBuilder page = new StringBuilder("<!doctype html><html lang=en><meta charset=utf-8><title>Proof, seed ")
                .append(result.plan().seed())
                .append("</title><style>")
                .append(STYLE)
                .append("</style><h1>Proof on ")
                .append(escaped(result.plan().store()))
                .append(", seed ")
                .append(result.plan().seed())
                .append("</h1><table>");
        result.figures()
                .forEach((name, value) -> page.append("<tr><th>")
                        .append(escaped(name))
                        .append("<td>")
                        .append(value));
        page.append("</table>");
        if (result.violations().isEmpty()) {
            page.append("<p>No violation.");
        }
        for (Checker.Violation violation : shown(result)) {
            page.append("<h2>")
                    .append(escaped(violation.work() + ": " + violation.what()))
                    .append("</h2><table>");
            for (String line : result.history().timeline(violation.work())) {
                page.append("<tr class=").append(kind(line)).append("><td>");
                int split = AT_WIDTH;
                page.append(escaped(line.substring(0, split))).append("<td>").append(escaped(line.substring(split)));
            }
            page.append("</table>");
        }
        return page.append("</html>\n").toString();
    }

    private static String kind(String line) {
        return line.contains("NEMESIS")
                ? "nemesis"
                : line.contains("EFFECT") ? "effect" : line.contains("evicts") ? "evict" : "asked";
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
