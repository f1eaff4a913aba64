package dev.onlyonce.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HmacScheme;
import dev.onlyonce.http.WebhookReceiver;
import dev.onlyonce.http.WebhookScheme;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.request.MockHttpServletRequestBuilder;
import org.springframework.test.web.servlet.request.MockMvcRequestBuilders;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.context.WebApplicationContext;

@DisplayName("An application with webhooks")
class WebhooksStartUpTest extends StartUp {
    private static final HmacScheme SCHEME = WebhookScheme.github("secret");

    @Configuration(proxyBeanMethods = false)
    static class One {
        final List<String> applied = new ArrayList<>();

        @Bean
        WebhookEndpoint github(Onlyonce once) {
            return new WebhookEndpoint("/webhooks/github", WebhookReceiver.builder(once, "github", SCHEME), webhook -> {
                applied.add(webhook.text());
                if (webhook.text().equals("fails")) {
                    throw new IllegalStateException("the effect failed");
                }
            });
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Another {
        @Bean
        WebhookEndpoint other(Onlyonce once) {
            return new WebhookEndpoint(
                    "/webhooks/github", WebhookReceiver.builder(once, "other", SCHEME), webhook -> {});
        }
    }

    @Test
    @DisplayName("N6 does not start if webhooks could not be remembered in the transaction of their effect")
    void elsewhere() {
        refuses(
                inMemory.withUserConfiguration(One.class),
                "a webhook could be applied twice",
                "application's DataSource");
        refuses(
                sql.withUserConfiguration(One.class)
                        .withPropertyValues("onlyonce.store.sqlite=" + folder.resolve("elsewhere.db")),
                "a webhook could be applied twice",
                "no onlyonce.store.sqlite");
    }

    @Test
    @DisplayName("does not start if two sources have one path, or a path is a pattern")
    void paths() {
        refuses(
                sql.withUserConfiguration(One.class, Another.class),
                "have the path /webhooks/github",
                "a path of its own");
        sql.run(context -> {
            WebhookReceiver.Builder receiver = WebhookReceiver.builder(context.getBean(Onlyonce.class), "any", SCHEME);
            for (String path : List.of("", "webhooks", "/webhooks/*", "/webhooks/{id}", "/web hooks")) {
                assertThatThrownBy(() -> new WebhookEndpoint(path, receiver, webhook -> {}))
                        .as(path)
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("be no pattern");
            }
        });
    }

    @Test
    @DisplayName("N6 applies each once in a test with entries in memory, too")
    void inMemoryForTests() {
        WebApplicationContextRunner memory =
                runner.withUserConfiguration(One.class).withPropertyValues("onlyonce.store.memory=true");
        memory.run(context -> {
            MockMvc mvc = MockMvcBuilders.webAppContextSetup(
                            (WebApplicationContext) context.getSourceApplicationContext())
                    .build();
            assertThat(send(mvc, "1", "one").getStatus()).isEqualTo(204);
            assertThat(send(mvc, "1", "one").getHeader("Idempotent-Replayed")).isEqualTo("true");
            assertThat(send(mvc, "1", "another").getStatus()).isEqualTo(422);
            assertThat(send(mvc, "2", "fails").getStatus()).isEqualTo(500);
            assertThat(send(mvc, "2", "fails").getStatus()).isEqualTo(500);
            assertThat(context.getBean(One.class).applied).containsExactly("one", "fails");
        });
    }

    private static MockHttpServletResponse send(MockMvc mvc, String id, String text) throws Exception {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        MockHttpServletRequestBuilder request =
                MockMvcRequestBuilders.post("/webhooks/github").content(body).header("X-GitHub-Delivery", id);
        for (Headers.Field field : SCHEME.sign(id, body, java.time.Instant.ofEpochSecond(1_700_000_000))
                .fields()) {
            request.header(field.name(), field.value());
        }
        return mvc.perform(request).andReturn().getResponse();
    }
}
