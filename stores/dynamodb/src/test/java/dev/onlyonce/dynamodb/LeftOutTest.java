package dev.onlyonce.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.testservers.DynamoDbServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathFactory;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.w3c.dom.Document;

/** Builds of people who may not use DynamoDB Local: they leave its tests out, and the build says so loudly. */
@Isolated("while it sets a property, no server starts")
@DisplayName("A build without DynamoDB Local")
class LeftOutTest {
    private static final Pattern LEFT_OUT =
            Pattern.compile("@DisabledIfSystemProperty\\(\\s*named = DynamoDbServer.PROPERTY,\\s*matches = \"false\"");

    @Test
    @DisplayName("warns in capital letters that DynamoDB is not tested, whenever the property leaves its tests out")
    void warns() throws Exception {
        Document pom = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse("pom.xml");
        XPath path = XPathFactory.newInstance().newXPath();
        String profile = "/project/profiles/profile[activation/property/name = '" + DynamoDbServer.PROPERTY
                + "' and activation/property/value = 'false']";
        String rule = profile + "//plugin[artifactId = 'maven-enforcer-plugin']//execution[phase = 'validate']"
                + "//alwaysFail[level = 'WARN']/message";
        assertThat(path.evaluate(rule, pom))
                .startsWith("DYNAMODB IS NOT TESTED")
                .contains("-D" + DynamoDbServer.PROPERTY + "=false");
    }

    @Test
    @DisplayName("starts no server, and says which option is the reason")
    void startsNothing() {
        String before = System.getProperty(DynamoDbServer.PROPERTY);
        System.setProperty(DynamoDbServer.PROPERTY, "false");
        try {
            assertThatThrownBy(DynamoDbServer::start)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("-Ddynamodb.local=false");
        } finally {
            if (before == null) {
                System.clearProperty(DynamoDbServer.PROPERTY);
            } else {
                System.setProperty(DynamoDbServer.PROPERTY, before);
            }
        }
    }

    @Test
    @DisplayName("leaves out every test that starts the server, in all modules")
    void all() throws IOException {
        try (Stream<Path> files = Files.walk(Path.of(System.getProperty("onlyonce.root")))) {
            List<Path> starting = files.filter(file -> file.toString().contains("/src/test/java/"))
                    .filter(file -> file.toString().endsWith("Test.java") && !file.endsWith("LeftOutTest.java"))
                    .filter(file -> text(file).matches("(?s).*DynamoDbServer\\.(start|shared)\\(\\).*"))
                    .toList();
            assertThat(starting)
                    .hasSizeGreaterThan(3)
                    .allMatch(file -> LEFT_OUT.matcher(text(file)).find());
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
