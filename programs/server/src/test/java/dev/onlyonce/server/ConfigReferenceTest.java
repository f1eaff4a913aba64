package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.onlyonce.server.config.ConfigFile;
import dev.onlyonce.server.config.InvalidConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The reader lists the names it knows when it refuses one that is like none of them; the page must show them all. */
@DisplayName("docs/reference/gateway-config.md")
class ConfigReferenceTest {
    private static final String UNKNOWN = "qqqqqqqqqqqqqqqqqqqq";
    private static final Pattern KNOWN =
            Pattern.compile("there is no setting \"" + UNKNOWN + "\" in [^;]+; there are: ([a-z0-9, -]+)");
    private static final String UPSTREAM = "upstreams: [{url: http://a}]\n";

    @TempDir
    Path folder;

    private Set<String> known(String yaml) throws IOException {
        Path file = Files.writeString(folder.resolve("gateway.yaml"), yaml.replace("?", UNKNOWN + ": 1"));
        InvalidConfig refused = catchThrowableOfType(InvalidConfig.class, () -> ConfigFile.read(file));
        Set<String> known = new TreeSet<>();
        Matcher names = KNOWN.matcher(String.valueOf(refused.getMessage()));
        while (names.find()) {
            known.addAll(Set.of(names.group(1).strip().split(", ")));
        }
        assertThat(known).as(refused.getMessage()).isNotEmpty();
        return known;
    }

    private static String page() throws IOException {
        String page = Files.readString(ConfigFileTest.root().resolve("docs/reference/gateway-config.md"));
        return page.substring(page.indexOf("```yaml"), page.lastIndexOf("```"));
    }

    private static boolean shows(String page, String name) {
        return Pattern.compile("(?m)(^|[\\s{#])" + Pattern.quote(name) + ":")
                .matcher(page)
                .find();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                UPSTREAM + "?",
                UPSTREAM + "listen: {?}",
                UPSTREAM + "listen: {tls: {?}}",
                UPSTREAM + "admin: {?}",
                "upstreams: [{url: http://a, ?}]",
                "upstreams: [{url: https://a, tls: {?}}]",
                UPSTREAM + "tenants: {?}",
                UPSTREAM + "tenants: {api-key: {?}}",
                UPSTREAM + "tenants: {jwt: {?}}",
                UPSTREAM + "tenants: {header: {?}}",
                UPSTREAM + "limits: {?}",
                UPSTREAM + "defaults: {?}",
                UPSTREAM + "operations: [{method: POST, path: /a, ?}]",
                UPSTREAM + "operations: [{method: POST, path: /a, request-age: {?}}]",
                UPSTREAM + "operations: [{method: POST, path: /a, look-up: {?}}]",
                UPSTREAM + "operations: [{method: POST, path: /a, look-up: {found: {?}}}]",
                UPSTREAM + "operations: [{method: POST, path: /a, look-up: {absent: {?}}}]",
                UPSTREAM + "operations: [{method: POST, path: /a, look-up: {answer: {?}}}]",
                UPSTREAM + "store: {?}",
                UPSTREAM + "store: {encryption: {?}}",
                UPSTREAM + "store: {url: 'redis://a'}\ncache: {url: 'redis://a', name: a, ?}",
                UPSTREAM + "observe: {?}"
            })
    @DisplayName("shows every setting that the reader knows")
    void settings(String yaml) throws IOException {
        String page = page();
        assertThat(known(yaml))
                .allSatisfy(name -> assertThat(shows(page, name)).as(name).isTrue());
    }

    @Test
    @DisplayName("with a setting left out would be found")
    void plantedFault() throws IOException {
        assertThat(shows(page(), "drain-grace")).isTrue();
        assertThat(shows(page().replace("drain-grace:", "drain:"), "drain-grace"))
                .isFalse();
    }
}
