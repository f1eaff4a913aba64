package dev.onlyonce.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * Renaming a class must not leave its old name in the documentation. Checked are names of classes in code spans: those in
 * camel case, and those with a member ({@code Outbox.accept}). Code blocks are compiled by other tests.
 */
@DisplayName("Pages")
class NamesTest {
    private static final Pattern FENCED = Pattern.compile("(?ms)^```.*?^```$");
    private static final Pattern SPAN = Pattern.compile("`([^`\n]+)`");
    private static final Pattern NAME = Pattern.compile("[A-Z][a-z]+[A-Z]\\w*");
    private static final Pattern MEMBER = Pattern.compile("([A-Z]\\w*[a-z]\\w*)\\.([A-Za-z]\\w*)(\\(.*\\))?");
    /** They name what was, too; and the tests in the list of promises have a test of their own. */
    private static final Set<String> EXEMPT = Set.of("CHANGELOG.md", "UPGRADING.md", "docs/reference/promises.md");

    @Test
    @DisplayName("name classes and members that exist")
    void names() throws IOException {
        SourceNames names = SourceNames.read();
        List<String> wrong = new ArrayList<>();
        for (Path page : Pages.all()) {
            if (!EXEMPT.contains(Pages.name(page))) {
                unknown(names, Files.readString(page)).forEach(name -> wrong.add(Pages.name(page) + ": " + name));
            }
        }
        assertThat(wrong).as("names that no source declares").isEmpty();
    }

    @Test
    @DisplayName("with a name that does not exist would be found")
    void plantedFaults() throws IOException {
        SourceNames names = SourceNames.read();
        assertThat(unknown(names, "`MemoryStore` and `Fingerprint.ofJson(body)`, `Retry-After` and `Location`"))
                .isEmpty();
        assertThat(unknown(names, "`MemoryStores`, `Fingerprint.ofXml`\n```java\nNoSuchClass x;\n```\n"))
                .containsExactly("MemoryStores", "Fingerprint.ofXml");
    }

    private static List<String> unknown(SourceNames names, String page) {
        List<String> unknown = new ArrayList<>();
        Matcher span = SPAN.matcher(FENCED.matcher(page).replaceAll(""));
        while (span.find()) {
            String text = span.group(1);
            Matcher member = MEMBER.matcher(text);
            if (member.matches()) {
                if (!names.hasMember(member.group(1), member.group(2))) {
                    unknown.add(text);
                }
            } else if (NAME.matcher(text).matches() && !names.isKnown(text)) {
                unknown.add(text);
            }
        }
        return unknown;
    }
}
