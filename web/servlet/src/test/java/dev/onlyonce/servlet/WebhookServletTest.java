package dev.onlyonce.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HmacScheme;
import dev.onlyonce.http.Webhook;
import dev.onlyonce.http.WebhookReceiver;
import dev.onlyonce.http.WebhookScheme;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Time;
import java.io.ByteArrayInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The servlet for webhooks")
class WebhookServletTest {
    private static final int BYTES_MAX = 100_000;

    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    abstract static class Contract {
        private final HmacScheme scheme = WebhookScheme.standard("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        private final HttpClient client = HttpClient.newHttpClient();
        private final Time time = Time.system();
        private final Onlyonce once = Onlyonce.builder(new MemoryStore(time)).build();
        private final List<Webhook> applied = Collections.synchronizedList(new ArrayList<>());
        private URI url;

        abstract int start(WebhookServlet servlet) throws Exception;

        abstract void stop() throws Exception;

        @BeforeAll
        void start() throws Exception {
            WebhookReceiver receiver = WebhookReceiver.builder(once, "sender", scheme)
                    .bodyBytesMax(BYTES_MAX)
                    .build(applied::add);
            url = URI.create("http://localhost:" + start(new WebhookServlet(receiver)) + "/webhooks/sender");
        }

        @AfterAll
        void end() throws Exception {
            stop();
            once.close();
            time.close();
        }

        @BeforeEach
        void forget() {
            applied.clear();
        }

        private HttpRequest.Builder signed(byte[] body) {
            HttpRequest.Builder request = HttpRequest.newBuilder(url);
            for (Headers.Field field : scheme.sign("msg_1", body, time.now()).fields()) {
                request.header(field.name(), field.value());
            }
            return request;
        }

        private HttpResponse<String> send(HttpRequest request) throws Exception {
            return client.send(request, BodyHandlers.ofString());
        }

        @Test
        @DisplayName("N6 hands over the bytes that were sent, whatever their content type says")
        void bytes() throws Exception {
            byte[] form = "a=%41&b=+c".getBytes(StandardCharsets.UTF_8);
            byte[] noise = new byte[BYTES_MAX];
            new Random(1).nextBytes(noise);
            List<byte[]> bodies = List.of(form, noise, new byte[0]);
            List<String> types =
                    List.of("application/x-www-form-urlencoded", "application/json", "multipart/form-data");
            for (int i = 0; i < bodies.size(); i++) {
                byte[] body = bodies.get(i);
                HttpResponse<String> response = send(signed(body)
                        .header("Content-Type", types.get(i))
                        .POST(BodyPublishers.ofByteArray(body))
                        .build());
                assertThat(response.statusCode()).as(response.body()).isEqualTo(204);
                assertThat(applied.get(i).body()).isEqualTo(body);
            }
        }

        @Test
        @DisplayName("N6 refuses a second line of a header, and a signature of other bytes")
        void refused() throws Exception {
            byte[] body = "{}".getBytes(StandardCharsets.UTF_8);
            HttpResponse<String> twice = send(signed(body)
                    .header("webhook-id", "msg_2")
                    .POST(BodyPublishers.ofByteArray(body))
                    .build());
            assertThat(twice.statusCode()).isEqualTo(401);
            assertThat(twice.body()).contains("webhook-id was sent more than once");
            HttpResponse<String> forged =
                    send(signed(body).POST(BodyPublishers.ofString("{ }")).build());
            assertThat(forged.statusCode()).isEqualTo(401);
            assertThat(forged.headers().firstValue("Content-Type").orElse("")).startsWith("application/problem+json");
            assertThat(applied).isEmpty();
        }

        @Test
        @DisplayName("refuses a body over the limit with 413, of known or unknown length, and answers the next request")
        void tooLarge() throws Exception {
            byte[] body = new byte[BYTES_MAX + 1];
            for (BodyPublisher publisher : List.of(
                    BodyPublishers.ofByteArray(body),
                    BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body)))) {
                HttpResponse<String> response =
                        send(signed(body).POST(publisher).build());
                assertThat(response.statusCode()).isEqualTo(413);
                assertThat(response.body()).contains("body_too_large");
            }
            assertThat(applied).isEmpty();
            assertThat(send(signed(new byte[1])
                                    .POST(BodyPublishers.ofByteArray(new byte[1]))
                                    .build())
                            .statusCode())
                    .isEqualTo(204);
        }

        @Test
        @DisplayName("takes POST only")
        void method() throws Exception {
            byte[] body = "{}".getBytes(StandardCharsets.UTF_8);
            for (String method : List.of("GET", "HEAD", "OPTIONS", "PUT", "DELETE")) {
                assertThat(send(signed(body)
                                        .method(method, BodyPublishers.ofByteArray(body))
                                        .build())
                                .statusCode())
                        .isEqualTo(405);
            }
            assertThat(applied).isEmpty();
        }
    }

    @Nested
    @DisplayName("in Jetty")
    class InJetty extends Contract {
        private final Server server = new Server(0);

        @Override
        int start(WebhookServlet servlet) throws Exception {
            ServletContextHandler context = new ServletContextHandler();
            context.addServlet(new ServletHolder(servlet), "/webhooks/sender");
            server.setHandler(context);
            server.start();
            return ((ServerConnector) server.getConnectors()[0]).getLocalPort();
        }

        @Override
        void stop() throws Exception {
            server.stop();
        }
    }

    @Nested
    @DisplayName("in Tomcat")
    class InTomcat extends Contract {
        private final Tomcat tomcat = new Tomcat();

        @TempDir
        static Path folder;

        @Override
        int start(WebhookServlet servlet) throws Exception {
            tomcat.setBaseDir(folder.toString());
            tomcat.setPort(0);
            Context context = tomcat.addContext("", folder.toString());
            Tomcat.addServlet(context, "webhooks", servlet).addMapping("/webhooks/sender");
            tomcat.getConnector();
            tomcat.start();
            return tomcat.getConnector().getLocalPort();
        }

        @Override
        void stop() throws Exception {
            tomcat.stop();
            tomcat.destroy();
        }
    }
}
