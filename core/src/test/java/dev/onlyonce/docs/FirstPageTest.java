package dev.onlyonce.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("README.md")
class FirstPageTest {
    private static final int LINES_MAX = 150;
    private static final int WORDS_MAX = 20;

    private static String page() throws Exception {
        return Files.readString(Pages.ROOT.resolve("README.md"));
    }

    @Test
    @DisplayName("says in twenty words what it is, shows how to use it before how to test it, and is short")
    void order() throws Exception {
        String page = page();
        assertThat(page.lines()).hasSizeLessThanOrEqualTo(LINES_MAX);
        Matcher sentence =
                Pattern.compile("\\A# Onlyonce\n\n\\*\\*(.*)\\*\\*\n").matcher(page);
        assertThat(sentence.find()).isTrue();
        assertThat(sentence.group(1).split(" ")).hasSizeLessThanOrEqualTo(WORDS_MAX);
        assertThat(page).containsSubsequence("<picture>", "## Use it", "## Run it", "## Stores", "## Test it");
        assertThat(page).contains("<dependency>", "implementation 'dev.onlyonce:onlyonce-");
    }

    @Test
    @DisplayName("shows one picture, for light and for dark pages, which differ in their colours alone")
    void picture() throws Exception {
        Matcher source = Pattern.compile("(?:srcset|src)=\"([^\"]+)\"").matcher(page());
        assertThat(source.find()).isTrue();
        String dark = drawing(source.group(1));
        assertThat(source.find()).isTrue();
        String light = drawing(source.group(1));
        assertThat(light).isNotEqualTo(dark);
        assertThat(light.replaceAll("#[0-9a-f]{6}", "colour")).isEqualTo(dark.replaceAll("#[0-9a-f]{6}", "colour"));
    }

    private static String drawing(String file) throws Exception {
        Path path = Pages.ROOT.resolve(file);
        DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(path.toFile());
        return Files.readString(path);
    }
}
