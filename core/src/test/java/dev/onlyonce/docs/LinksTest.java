package dev.onlyonce.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Links between pages")
class LinksTest {
    private static final Pattern FENCED = Pattern.compile("(?ms)^```.*?^```$");
    private static final Pattern LINK = Pattern.compile("]\\(([^)\\s]+)\\)");

    @Test
    @DisplayName("lead to files and headings that are there")
    void links() throws IOException {
        List<String> broken = new ArrayList<>();
        for (Path page : Pages.all()) {
            Matcher link = LINK.matcher(FENCED.matcher(Files.readString(page)).replaceAll(""));
            while (link.find()) {
                if (!link.group(1).contains("://") && !isThere(page, link.group(1))) {
                    broken.add(Pages.name(page) + ": " + link.group(1));
                }
            }
        }
        assertThat(broken).isEmpty();
    }

    @Test
    @DisplayName("reach every page below docs from its index")
    void index() throws IOException {
        String index = Files.readString(Pages.ROOT.resolve("docs/README.md"));
        assertThat(Pages.all())
                .filteredOn(page -> Pages.name(page).startsWith("docs/"))
                .filteredOn(page -> !Pages.name(page).matches("docs/README\\.md|docs/internals/decisions/.*"))
                .allSatisfy(page -> assertThat(index).contains(Pages.name(page).substring("docs/".length())));
    }

    @Test
    @DisplayName("reach every decision from the index of decisions, once")
    void decisions() throws IOException {
        Path index = Pages.ROOT.resolve("docs/internals/decisions/README.md");
        String text = Files.readString(index);
        assertThat(Pages.all())
                .filteredOn(page -> page.getParent().equals(index.getParent()) && !page.equals(index))
                .hasSizeGreaterThan(30)
                .allSatisfy(page -> assertThat(text).containsOnlyOnce("](" + page.getFileName() + ")"));
    }

    private static boolean isThere(Path page, String link) throws IOException {
        String[] parts = link.split("#", 2);
        Path target = parts[0].isEmpty() ? page : page.resolveSibling(parts[0]).normalize();
        if (!Files.exists(target)) {
            return false;
        }
        return parts.length == 1
                || Files.readAllLines(target).stream()
                        .filter(line -> line.startsWith("#"))
                        .anyMatch(line -> anchor(line).equals(parts[1]));
    }

    /** As GitHub makes it from a heading. */
    private static String anchor(String heading) {
        return heading.replaceFirst("^#+\\s+", "")
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^\\w\\- ]", "")
                .replace(' ', '-');
    }
}
