package dev.onlyonce.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HmacScheme;
import dev.onlyonce.http.WebhookId;
import dev.onlyonce.http.WebhookReceiver;
import dev.onlyonce.http.WebhookScheme;
import dev.onlyonce.servlet.WebhookServlet;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.inbox.Inbox;
import dev.onlyonce.sql.inbox.InboxMessage;
import jakarta.servlet.ServletContext;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sqlite.SQLiteDataSource;

@DisplayName("The guide for webhooks")
class WebhooksGuideTest {
    private static final Pattern JAVA = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL);
    private static final Path HERE = Path.of("src", "test", "java", "dev", "onlyonce", "spring");

    @TempDir
    Path folder;

    /** The application's part. */
    private static final class Orders {
        void pay(Connection transaction, String event) throws SQLException {
            try (PreparedStatement insert = transaction.prepareStatement("INSERT INTO paid VALUES (?)")) {
                insert.setString(1, event);
                insert.executeUpdate();
            }
        }
    }

    private static void register(ServletContext context, Onlyonce once, String secret, Orders orders) {
        Inbox inbox = Inbox.of(once);
        WebhookReceiver receiver = WebhookReceiver.builder(once, "stripe", WebhookScheme.stripe(secret))
                .build(webhook -> inbox.apply(
                        new InboxMessage(webhook.source(), webhook.id(), webhook.content()),
                        transaction -> orders.pay(transaction, webhook.text())));
        context.addServlet("stripe", new WebhookServlet(receiver)).addMapping("/webhooks/stripe");
    }

    private static HmacScheme slack(String secret) {
        HmacScheme slack = HmacScheme.builder("X-Slack-Signature")
                .prefix("v0=")
                .timestampHeader("X-Slack-Request-Timestamp")
                .content("v0:{timestamp}:{body}")
                .id(WebhookId.json("/event_id"))
                .secrets(secret)
                .build();
        return slack;
    }

    private static WebhookScheme both(String newSecret, String oldSecret) {
        WebhookScheme both = WebhookScheme.stripe(newSecret, oldSecret);
        return both;
    }

    private static WebhookReceiver.Builder receiver(Onlyonce once, WebhookScheme scheme) {
        WebhookReceiver.Builder receiver = WebhookReceiver.builder(once, "shop", scheme)
                .id(WebhookId.header("X-Shop-Event"))
                .ignore("/attempt", "/delivered_at");
        return receiver;
    }

    private static Headers sign(byte[] body) {
        HmacScheme stripe = WebhookScheme.stripe("whsec_test");
        Headers signed = stripe.sign("", body, Instant.now());
        return signed;
    }

    @Test
    @DisplayName("shows only code that is compiled and run by tests")
    void onlyWhatRuns() throws Exception {
        String tested = squeezed(Files.readString(HERE.resolve("WebhooksGuideTest.java"))
                + Files.readString(HERE.resolve("sample/WebhookApp.java")));
        Matcher code = JAVA.matcher(
                Files.readString(Path.of(System.getProperty("onlyonce.root"), "docs", "guides", "webhooks.md")));
        int blocks = 0;
        while (code.find()) {
            assertThat(tested).contains(squeezed(code.group(1)));
            blocks++;
        }
        assertThat(blocks).isEqualTo(6);
    }

    private static String squeezed(String code) {
        return code.replaceAll("\\s", "");
    }

    @Test
    @DisplayName("N6 shows a servlet that works: two deliveries, one payment")
    void servlet() throws Exception {
        SQLiteDataSource source = new SQLiteDataSource();
        source.setUrl("jdbc:sqlite:" + folder.resolve("orders.db") + "?synchronous=FULL");
        Tomcat tomcat = new Tomcat();
        try (SqlStore store = SqlStore.open(source);
                Onlyonce once = Onlyonce.builder(store).build();
                Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE paid (event TEXT NOT NULL)");
            tomcat.setBaseDir(folder.toString());
            tomcat.setPort(0);
            Context context = tomcat.addContext("", folder.toString());
            context.addServletContainerInitializer(
                    (classes, servlets) -> register(servlets, once, "whsec_test", new Orders()), Set.of());
            tomcat.getConnector();
            tomcat.start();
            byte[] body = "{\"id\":\"evt_1\",\"type\":\"checkout.session.completed\"}".getBytes(StandardCharsets.UTF_8);
            HttpRequest.Builder request = HttpRequest.newBuilder(
                    URI.create("http://localhost:" + tomcat.getConnector().getLocalPort() + "/webhooks/stripe"));
            sign(body).fields().forEach(field -> request.header(field.name(), field.value()));
            request.header("Content-Type", "application/json").POST(BodyPublishers.ofByteArray(body));
            for (int i = 0; i < 2; i++) {
                HttpResponse<String> answer =
                        HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
                assertThat(answer.statusCode()).as(answer.body()).isEqualTo(204);
            }
            try (ResultSet paid = statement.executeQuery("SELECT COUNT(*) FROM paid")) {
                assertThat(paid.next()).isTrue();
                assertThat(paid.getInt(1)).isEqualTo(1);
            }
            assertThat(receiver(once, both("new", "old"))
                            .build(webhook -> true)
                            .receive(Headers.none(), body)
                            .status())
                    .isEqualTo(401);
        } finally {
            tomcat.stop();
            tomcat.destroy();
        }
    }

    @Test
    @DisplayName("N6 shows schemes that accept what their senders sign")
    void schemes() {
        byte[] body = "{\"event_id\":\"Ev08MFMKH6\"}".getBytes(StandardCharsets.UTF_8);
        Instant now = Instant.ofEpochSecond(1_700_000_000);
        Headers signed = slack("secret").sign("", body, now);
        assertThat(slack("secret").refusal(signed, body, now)).isEmpty();
        assertThat(slack("secret").id().of(signed, body)).contains("Ev08MFMKH6");
        Headers old = WebhookScheme.stripe("old").sign("", body, now);
        assertThat(both("new", "old").refusal(old, body, now)).isEmpty();
    }
}
