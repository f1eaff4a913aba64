package dev.onlyonce.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * The Java part of {@code docs/reference/configuration.md} is generated from the builders and their Javadoc. Settings that the
 * Spring part names are not repeated. To bring it up to date, run this test with {@code -Dreference.write=true}, after the
 * test of the Spring part.
 */
@DisplayName("docs/reference/configuration.md")
class BuildersReferenceTest {
    private static final Path PAGE = Pages.ROOT.resolve("docs/reference/configuration.md");
    private static final String BEGIN = "<!-- generated from the builders -->\n";
    private static final String END = "<!-- end of what is generated from the builders -->\n";
    /** Modules with builders for applications. */
    private static final List<String> MODULES = List.of("core", "http", "sql", "servlet", "webflux", "jaxrs");

    private static final Pattern BUILDER = Pattern.compile(
            "class (Builder|OperationOptions|PolicyOptions)\\b.*?(?=\\n    (?:public )?static final class |\\z)",
            Pattern.DOTALL);
    private static final Pattern SETTING = Pattern.compile(
            "/\\*\\*((?:(?!\\*/).)*)\\*/\\s*public (?:final )?(?:Builder|B|OperationOptions) (\\w+)\\(([^)]*)\\)",
            Pattern.DOTALL);

    private static final Pattern SPAN = Pattern.compile("Duration\\.of(\\w+)\\((\\d+)\\)");
    private static final Pattern SHIFTED = Pattern.compile("(\\d+)L? << (\\d+)");
    private static final Pattern NUMBER = Pattern.compile("[\\d_]+|[A-Z][A-Za-z]+\\.[A-Z_]+");
    private static final Map<String, String> UNITS =
            Map.of("Millis", "ms", "Seconds", "s", "Minutes", "m", "Hours", "h", "Days", "d");

    @Test
    @DisplayName("lists every setting of every builder, with its Javadoc")
    void builders() throws IOException {
        String page = Files.readString(PAGE);
        int begin = page.indexOf(BEGIN) + BEGIN.length();
        int end = page.indexOf(END);
        assertThat(end).isGreaterThanOrEqualTo(begin);
        String generated = generated(page);
        if (Boolean.getBoolean("reference.write")) {
            Files.writeString(PAGE, page.substring(0, begin) + generated + page.substring(end));
            return;
        }
        assertThat(page.substring(begin, end))
                .as("to bring the page up to date, run this test with -Dreference.write=true")
                .isEqualTo(generated);
    }

    private static String generated(String page) throws IOException {
        Map<String, String> tables = new TreeMap<>();
        for (String module : MODULES) {
            for (Path file : Modules.sources(Modules.all().get(module), "src/main/java")) {
                String source = Files.readString(file);
                Matcher builder = BUILDER.matcher(source);
                if (builder.find()) {
                    String type = file.getFileName().toString().replace(".java", "");
                    String name = builder.group(1).equals("Builder") ? type + ".Builder" : type;
                    rows(builder.group(), name, tables, page);
                }
            }
        }
        StringBuilder text = new StringBuilder();
        tables.forEach((name, rows) -> text.append("\n### `")
                .append(name)
                .append("`\n\n| setting | default | meaning |\n|---|---|---|\n")
                .append(rows));
        return text.append('\n').toString();
    }

    private static void rows(String body, String name, Map<String, String> tables, String page) {
        StringBuilder rows = new StringBuilder();
        Matcher setting = SETTING.matcher(body);
        while (setting.find()) {
            if (page.contains("| `" + name + "." + setting.group(2) + "` |")) {
                continue;
            }
            rows.append("| `%s(%s)` | %s | %s |\n"
                    .formatted(
                            setting.group(2),
                            types(setting.group(3)),
                            standard(body, setting.group(2)),
                            plain(setting.group(1))));
        }
        if (rows.length() > 0) {
            tables.put(name, rows.toString());
        }
    }

    /** The value of the field that the setting sets, if it is a duration, a number or a constant. */
    private static String standard(String body, String setting) {
        Matcher field =
                Pattern.compile("private [^;=]*\\b" + setting + " = ([^;]+);").matcher(body);
        if (!field.find()) {
            return "";
        }
        String value = field.group(1);
        Matcher span = SPAN.matcher(value);
        Matcher shifted = SHIFTED.matcher(value);
        if (value.equals("Duration.ZERO")) {
            return "`0s`";
        }
        if (span.matches()) {
            return "`" + span.group(2) + UNITS.get(span.group(1)) + "`";
        }
        if (shifted.matches()) {
            return "`" + (Long.parseLong(shifted.group(1)) << Integer.parseInt(shifted.group(2))) + "`";
        }
        return NUMBER.matcher(value).matches() ? "`" + value + "`" : "";
    }

    /** The parameters' types; their names repeat the setting's. */
    private static String types(String parameters) {
        return parameters
                .replace("@Nullable ", "")
                .strip()
                .replaceAll("\\s+", " ")
                .replaceAll(" \\w+(?=,|$)", "")
                .replace("...", "…");
    }

    /** The Javadoc as Markdown, without its tags. */
    private static String plain(String javadoc) {
        return javadoc.replaceAll("\\n\\s*\\*", " ")
                .replaceAll("(?s)\\s@(param|throws|return).*", "")
                .replaceAll("<p>|</?ul>|</?li>", " ")
                .replaceAll("(\\{@link(?:plain)? \\w+)#", "$1.")
                .replaceAll("\\{@(?:link(?:plain)?|code) #?([^}]+?)}", "`$1`")
                .replace("|", "\\|")
                .strip()
                .replaceAll("\\s+", " ");
    }
}
