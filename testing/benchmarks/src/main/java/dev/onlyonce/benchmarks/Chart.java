package dev.onlyonce.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Bars in groups: a group for each place on the axis, a bar for each series.
 *
 * @param bars the values of each series by their places
 */
record Chart(String title, Map<String, Map<String, Double>> bars) {
    private static final int WIDTH = 760;
    private static final int PLOT_HEIGHT = 200;
    private static final int LEFT = 60;
    private static final int LEGEND_COLUMNS = 4;
    private static final int LEGEND_LINE = 18;
    private static final int LABELS_MAX = 24;
    private static final int TITLE_HEIGHT = 34;

    /** The colours of a page, and those of the series. */
    enum Theme {
        LIGHT("#ffffff", "#1f2328", "#d0d7de", "#0969da #bc4c00 #1a7f37 #8250df #57606a #bf3989"),
        DARK("#0d1117", "#e6edf3", "#30363d", "#4493f8 #db6d28 #3fb950 #ab7df8 #8b949e #db61a2");

        private final String background;
        private final String text;
        private final String line;
        private final String series;

        Theme(String background, String text, String line, String series) {
            this.background = background;
            this.text = text;
            this.line = line;
            this.series = series;
        }

        String suffix() {
            return "-" + name().toLowerCase(Locale.ROOT) + ".svg";
        }
    }

    /** The places of all series, in their order. */
    private List<String> places() {
        Set<String> places = new LinkedHashSet<>();
        bars.values().forEach(values -> places.addAll(values.keySet()));
        return new ArrayList<>(places);
    }

    String svg(Theme theme) {
        List<String> series = new ArrayList<>(bars.keySet());
        int top = TITLE_HEIGHT + LEGEND_LINE * ((series.size() + LEGEND_COLUMNS - 1) / LEGEND_COLUMNS) + 14;
        int height = top + PLOT_HEIGHT + 30;
        StringBuilder svg = new StringBuilder();
        line(
                svg,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\""
                        + " aria-label=\"%s\" font-family=\"system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif\""
                        + " font-size=\"12\" fill=\"%s\">",
                WIDTH,
                height,
                WIDTH,
                height,
                escaped(title),
                theme.text);
        line(svg, "  <rect width=\"%d\" height=\"%d\" rx=\"8\" fill=\"%s\"/>", WIDTH, height, theme.background);
        line(svg, "  <text x=\"16\" y=\"24\" font-size=\"14\" font-weight=\"600\">%s</text>", escaped(title));
        legend(svg, theme, series);
        double most = bars.values().stream()
                .flatMap(values -> values.values().stream())
                .mapToDouble(Double::doubleValue)
                .max()
                .orElse(1);
        grid(svg, theme, top, most);
        groups(svg, theme, series, top, most);
        return svg.append("</svg>\n").toString();
    }

    private static void legend(StringBuilder svg, Theme theme, List<String> series) {
        int column = (WIDTH - 32) / LEGEND_COLUMNS;
        for (int i = 0; i < series.size(); i++) {
            int x = 16 + i % LEGEND_COLUMNS * column;
            int y = TITLE_HEIGHT + 8 + i / LEGEND_COLUMNS * LEGEND_LINE;
            line(svg, "  <rect x=\"%d\" y=\"%d\" width=\"10\" height=\"10\"%s/>", x, y, fill(theme, i));
            line(svg, "  <text x=\"%d\" y=\"%d\">%s</text>", x + 15, y + 9, escaped(series.get(i)));
        }
    }

    private static void grid(StringBuilder svg, Theme theme, int top, double most) {
        double step = step(most);
        for (int i = 0; i * step <= most; i++) {
            double y = top + PLOT_HEIGHT * (1 - i * step / most);
            line(svg, "  <path d=\"M%d %.1fH%d\" stroke=\"%s\"/>", LEFT, y, WIDTH - 16, theme.line);
            line(svg, "  <text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>", LEFT - 6, y + 4, number(i * step));
        }
    }

    private void groups(StringBuilder svg, Theme theme, List<String> series, int top, double most) {
        List<String> places = places();
        double group = (double) (WIDTH - 16 - LEFT) / places.size();
        double bar = group * 0.85 / series.size();
        boolean labels = places.size() * series.size() <= LABELS_MAX;
        for (int place = 0; place < places.size(); place++) {
            double start = LEFT + place * group + group * 0.075;
            for (int i = 0; i < series.size(); i++) {
                Double value = bars.getOrDefault(series.get(i), Map.of()).get(places.get(place));
                if (value != null) {
                    double x = start + i * bar;
                    double y = top + PLOT_HEIGHT * (1 - value / most);
                    line(
                            svg,
                            "  <rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"%s/>",
                            x,
                            y,
                            bar * 0.9,
                            top + PLOT_HEIGHT - y,
                            fill(theme, i));
                    if (labels) {
                        line(
                                svg,
                                "  <text x=\"%.1f\" y=\"%.1f\" font-size=\"10\" text-anchor=\"middle\">%s</text>",
                                x + bar * 0.45,
                                y - 3,
                                number(value));
                    }
                }
            }
            line(
                    svg,
                    "  <text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>",
                    start + group * 0.425,
                    top + PLOT_HEIGHT + 18,
                    escaped(places.get(place)));
        }
    }

    /** A colour for each of the first series; later ones take it again, more faintly. */
    private static String fill(Theme theme, int series) {
        String[] colours = theme.series.split(" ", -1);
        String colour = " fill=\"" + colours[series % colours.length] + "\"";
        return series < colours.length ? colour : colour + " fill-opacity=\"0.5\"";
    }

    /** The distance of the lines behind the bars: three to seven of them. */
    private static double step(double most) {
        double power = Math.pow(10, Math.floor(Math.log10(most)));
        for (double factor : new double[] {0.2, 0.5, 1, 2}) {
            if (most / (power * factor) <= 7) {
                return power * factor;
            }
        }
        return power * 2;
    }

    private static String number(double value) {
        String text = value >= 1000
                ? String.format(Locale.ROOT, "%.1fk", value / 1000)
                : String.format(Locale.ROOT, "%.2f", value);
        return text.replaceFirst("\\.?0+(?=k?$)", "");
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;");
    }

    private static void line(StringBuilder svg, String format, Object... values) {
        svg.append(String.format(Locale.ROOT, format, values)).append('\n');
    }

    /** Collects bars in the order in which they come. */
    static final class Bars {
        private final Map<String, Map<String, Double>> bars = new LinkedHashMap<>();

        void add(String series, String place, double value) {
            bars.computeIfAbsent(series, name -> new LinkedHashMap<>()).put(place, value);
        }

        Chart chart(String title) {
            return new Chart(title, bars);
        }
    }
}
