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

/** Looks for phrases that CONTRIBUTING.md asks to avoid. Code, and the examples there, are left out. */
@DisplayName("The English of the pages")
class EnglishTest {
    /** Not ours to rephrase: the promises are a contract. */
    private static final Set<String> EXEMPT = Set.of("docs/reference/promises.md");
    /** Generated parts are the Javadoc of the code, and are corrected there. */
    private static final Pattern CODE = Pattern.compile(
            "(?s)<!-- generated from .*?<!-- end of what is generated|(?-s)(?ms)^```.*?^```$|`[^`\n]*`|\"[^\"\n]*\"");

    private static final Pattern AVOIDED = Pattern.compile(
            "(?i)\\b(so many|so much|of late|for ever|anew|it may be that|(is|are|was|were|be) told|unless told otherwise"
                    + "|(came|comes?|coming) to (?!an?\\b|the\\b|us\\b|you\\b)|what is called|those of before|nodes of before"
                    + "|whatever becomes of|by (io_uring|TLS))\\b");

    @Test
    @DisplayName("avoids phrases that a reader has to translate")
    void phrases() throws IOException {
        List<String> found = new ArrayList<>();
        for (Path page : Pages.all()) {
            if (EXEMPT.contains(Pages.name(page))) {
                continue;
            }
            avoided(Files.readString(page)).forEach(phrase -> found.add(Pages.name(page) + ": " + phrase));
        }
        assertThat(found).isEmpty();
    }

    @Test
    @DisplayName("with such a phrase would be found, but not in code or in quotation marks")
    void plantedFaults() {
        assertThat(avoided("The listener is told of\nso many things. `for ever` \"anew\"\n```\nof late\n```\n"))
                .containsExactly("is told", "so many");
    }

    private static List<String> avoided(String page) {
        List<String> phrases = new ArrayList<>();
        Matcher phrase = AVOIDED.matcher(CODE.matcher(page).replaceAll("").replace('\n', ' '));
        while (phrase.find()) {
            phrases.add(phrase.group().strip());
        }
        return phrases;
    }
}
