package dev.onlyonce.sql.guide;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The programs of the guides")
class ProgramsTest {
    @TempDir
    Path folder;

    @Test
    @DisplayName("use all four ways from plain Java, and replay everything when they are started again")
    void plainJava() throws Exception {
        PageProgram program = PageProgram.wholeOf("docs/guides/plain-java.md");
        List<String> lines = program.run(folder);
        assertThat(lines).hasSize(8);
        assertThat(lines.get(0)).matches("Receipt\\[id=charged with [\\w-]{32}, cents=990]");
        assertThat(lines.get(1)).isEqualTo(lines.get(0));
        assertThat(lines.get(2)).isEqualTo("Mismatched[reason=REQUEST]");
        assertThat(lines.get(3)).isEqualTo("Receipt[id=ordered book, cents=990]");
        assertThat(lines.get(4)).isEqualTo("true");
        assertThat(lines.get(5)).matches("Receipt\\[id=refunded with [\\w-]{32}, cents=-990]");
        assertThat(lines.get(6)).isEqualTo("true");
        assertThat(lines.get(7)).isEqualTo("parcel with book");
        assertThat(program.run(folder)).isEqualTo(lines);
    }

    @Test
    @DisplayName("name the release that this is, and the driver that the tests use")
    void versions() throws Exception {
        String page = Files.readString(Path.of(System.getProperty("onlyonce.root"), "docs", "guides", "plain-java.md"));
        String pom = Files.readString(Path.of(System.getProperty("onlyonce.root"), "pom.xml"));
        assertThat(page).contains("<version>" + first(pom, "<version>([^<]+)</version>") + "</version>");
        assertThat(page).contains("<version>" + first(pom, "<sqlite[\\w.-]*version>([^<]+)</sqlite") + "</version>");
    }

    private static String first(String text, String pattern) {
        Matcher found = Pattern.compile(pattern).matcher(text);
        assertThat(found.find()).as(pattern).isTrue();
        return found.group(1);
    }

    @Test
    @DisplayName("reconcile a charge whose answer was lost")
    void reconciler() throws Exception {
        String page = Files.readString(Path.of(System.getProperty("onlyonce.root"), "docs", "guides", "reconciler.md"));
        String printed = page.substring(page.indexOf("It prints:\n\n```\n") + 16);
        assertThat(PageProgram.wholeOf("docs/guides/reconciler.md").run(folder))
                .containsExactlyElementsOf(
                        printed.substring(0, printed.indexOf("```")).lines().toList());
    }
}
