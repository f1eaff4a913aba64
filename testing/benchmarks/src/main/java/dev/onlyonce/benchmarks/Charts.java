package dev.onlyonce.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Draws the tables of {@code docs/internals/performance.md}. A comment on the page stands before each table with a chart:
 *
 * <pre>{@code <!-- chart fresh: Fresh operations | series database | at callers | value ratio -->}</pre>
 *
 * The value is a column, or several columns, which are the series then. With {@code at} and several columns, as in
 * {@code at 1,16,64}, each row is a series.
 */
final class Charts {
    private static final Path PAGE = Path.of("docs", "internals", "performance.md");
    private static final Path FOLDER = Path.of("docs", "images", "charts");
    private static final Pattern CHART = Pattern.compile("(?m)^<!-- chart (\\S+): (.*) -->$");
    private static final Pattern ROW = Pattern.compile("(?m)^\\|(.*)\\|$");

    private Charts() {}

    /** Writes all charts below the root of the project. */
    static void write(Path root) throws IOException {
        Files.createDirectories(root.resolve(FOLDER));
        for (Map.Entry<Path, String> chart : drawn(root).entrySet()) {
            Files.writeString(chart.getKey(), chart.getValue());
        }
    }

    /** The charts by their files, as they should be. */
    static Map<Path, String> drawn(Path root) throws IOException {
        String page = Files.readString(root.resolve(PAGE));
        Map<Path, String> files = new LinkedHashMap<>();
        Matcher chart = CHART.matcher(page);
        while (chart.find()) {
            Chart drawn = chart(chart.group(2), table(page.substring(chart.end())));
            for (Chart.Theme theme : Chart.Theme.values()) {
                files.put(root.resolve(FOLDER).resolve(chart.group(1) + theme.suffix()), drawn.svg(theme));
            }
        }
        return files;
    }

    /** The rows of the first table of a text, without the line below its head. */
    private static List<List<String>> table(String text) {
        List<List<String>> rows = new ArrayList<>();
        Matcher row = ROW.matcher(text);
        int end = -1;
        while (row.find() && (end < 0 || row.start() == end + 1)) {
            rows.add(Arrays.stream(row.group(1).split("\\|", -1))
                    .map(cell -> cell.replace("**", "").strip())
                    .toList());
            end = row.end();
        }
        if (rows.size() < 3) {
            throw new IllegalArgumentException("no table after a chart");
        }
        rows.remove(1);
        return rows;
    }

    private static Chart chart(String description, List<List<String>> table) {
        String[] parts = description.split(" \\| ", -1);
        Map<String, List<String>> columns = new LinkedHashMap<>();
        for (String part : Arrays.asList(parts).subList(1, parts.length)) {
            String[] words = part.split(" ", 2);
            columns.put(words[0], List.of(words[1].split(",")));
        }
        List<String> series = columns.getOrDefault("series", List.of());
        List<String> at = columns.getOrDefault("at", List.of());
        List<String> values = columns.getOrDefault("value", List.of());
        Chart.Bars bars = new Chart.Bars();
        for (List<String> row : table.subList(1, table.size())) {
            if (values.isEmpty()) {
                at.forEach(place -> add(bars, cell(table, row, series.get(0)), place, cell(table, row, place)));
            } else if (series.isEmpty()) {
                values.forEach(value -> add(bars, value, cell(table, row, at.get(0)), cell(table, row, value)));
            } else {
                String place = cell(table, row, at.get(0));
                add(bars, cell(table, row, series.get(0)), place, cell(table, row, values.get(0)));
            }
        }
        return bars.chart(parts[0]);
    }

    private static void add(Chart.Bars bars, String series, String place, String value) {
        if (!value.isEmpty()) {
            bars.add(series, place, Double.parseDouble(value.replaceAll("[x%,]", "")));
        }
    }

    private static String cell(List<List<String>> table, List<String> row, String column) {
        int index = table.get(0).indexOf(column);
        if (index < 0) {
            throw new IllegalArgumentException("the table has no column " + column + ": " + table.get(0));
        }
        return row.get(index);
    }
}
