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
 * The table of {@code docs/reference/policy.md} is generated from the versions in the poms. To bring it up to date, run this
 * test with {@code -Dreference.write=true}.
 */
@DisplayName("docs/reference/policy.md")
class PolicyReferenceTest {
    private static final Path PAGE = Pages.ROOT.resolve("docs/reference/policy.md");
    private static final String BEGIN = "<!-- generated from the poms -->\n";
    private static final String END = "<!-- end of what is generated from the poms -->\n";
    private static final Pattern PROPERTY = Pattern.compile("<([\\w.-]+\\.(?:version|release))>([^<]+)</");

    /** What is tested, and the property that has its version. */
    private record Row(String what, String property, String remark) {}

    private static final List<Row> ROWS = List.of(
            new Row("Java", "maven.compiler.release", "the oldest; the code is compiled for it"),
            new Row("Spring Boot", "spring-boot.version", ""),
            new Row("Spring Framework", "spring.version", ""),
            new Row("Jakarta Servlet", "jakarta-servlet.version", ""),
            new Row("Tomcat", "tomcat.version", "starter and filter"),
            new Row("Jetty", "jetty.version", "starter and filter"),
            new Row("PostgreSQL", "postgres-binaries.version", "14 or newer works"),
            new Row("PostgreSQL JDBC", "postgresql.version", ""),
            new Row("MariaDB", "mariadb-binaries.version", "10.6 or newer works"),
            new Row("MariaDB Connector/J", "mariadb-java-client.version", "for MySQL too"),
            new Row("MySQL Connector/J", "mysql-connector-j.version", "with MySQL 8.0.31"),
            new Row("SQLite", "sqlite-jdbc.version", "the JDBC driver brings it"),
            new Row("H2", "h2.version", "for tests"),
            new Row("Lettuce", "lettuce.version", "with Redis 7.0.15"),
            new Row("Apache Cassandra", "cassandra.version", ""),
            new Row("AWS SDK", "aws-sdk.version", "DynamoDB and SQS"),
            new Row("DynamoDB Local", "dynamodb-local.version", "in place of the service"),
            new Row("Apache Kafka", "kafka.version", "broker and client"),
            new Row("RabbitMQ client", "amqp-client.version", "with Qpid as the broker"),
            new Row("Apache Qpid Broker-J", "qpid.version", ""),
            new Row("ElasticMQ", "elasticmq.version", "in place of SQS"),
            new Row("OkHttp", "okhttp.version", "client"));

    @Test
    @DisplayName("lists the versions that the build runs")
    void versions() throws IOException {
        String page = Files.readString(PAGE);
        int begin = page.indexOf(BEGIN) + BEGIN.length();
        int end = page.indexOf(END);
        assertThat(end).isGreaterThanOrEqualTo(begin);
        String generated = generated();
        if (Boolean.getBoolean("reference.write")) {
            Files.writeString(PAGE, page.substring(0, begin) + generated + page.substring(end));
            return;
        }
        assertThat(page.substring(begin, end))
                .as("to bring the page up to date, run this test with -Dreference.write=true")
                .isEqualTo(generated);
    }

    private static String generated() throws IOException {
        Map<String, String> properties = new TreeMap<>();
        for (Path module : Modules.all().values()) {
            read(module.resolve("pom.xml"), properties);
        }
        read(Modules.ROOT.resolve("pom.xml"), properties);
        StringBuilder table = new StringBuilder("\n| | tested with | |\n|---|---|---|\n");
        for (Row row : ROWS) {
            assertThat(properties).as(row.what()).containsKey(row.property());
            table.append("| %s | %s | %s |\n".formatted(row.what(), properties.get(row.property()), row.remark()));
        }
        return table.append('\n').toString();
    }

    private static void read(Path pom, Map<String, String> properties) throws IOException {
        Matcher property = PROPERTY.matcher(Files.readString(pom));
        while (property.find()) {
            properties.put(property.group(1), property.group(2));
        }
    }
}
