package dev.onlyonce.spring.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.http.KeyField;
import dev.onlyonce.spring.Idempotent;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.servlet.View;

@DisplayName("A form in a browser, which cannot send a header")
class FormsTest {
    private static final HttpClient BROWSER = HttpClient.newHttpClient();
    private static final Pattern HIDDEN = Pattern.compile("name=\"(\\w+)\" value=\"(.+?)\"");
    private static final Pattern JAVA =
            Pattern.compile("```java\\n((?:(?!```).)*?keyField(?:(?!```).)*)```", Pattern.DOTALL);

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            excludeName = {
                "org.springframework.boot.jetty.autoconfigure.servlet.JettyServletWebServerAutoConfiguration",
                "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration"
            })
    @Import({Orders.class, Shop.class})
    static class App {
        /** Reads a parameter before our filter, and with it the body, as Spring Security does for its token. */
        @Bean
        FilterRegistrationBean<Filter> csrf(@Value("${forms.csrf:false}") boolean on) {
            FilterRegistrationBean<Filter> registration = new FilterRegistrationBean<>((request, response, chain) -> {
                if (on) {
                    assertThat(request.getParameter("_csrf")).isNull();
                }
                chain.doFilter(request, response);
            });
            registration.setOrder(-100);
            return registration;
        }

        /** Stands for a template. */
        @Bean("order-form")
        View page() {
            return new View() {
                @Override
                public String getContentType() {
                    return "text/html";
                }

                @Override
                public void render(Map<String, ?> model, HttpServletRequest request, HttpServletResponse response)
                        throws IOException {
                    response.getWriter()
                            .print("<form method=\"post\" action=\"/orders\"><input type=\"hidden\""
                                    + " name=\"idempotency_key\" value=\"" + model.get("key") + "\"></form>");
                }
            };
        }
    }

    static class Orders {
        final AtomicInteger placed = new AtomicInteger();

        int place(String item) {
            assertThat(item).isEqualTo("a tea pot");
            return placed.incrementAndGet();
        }
    }

    @Controller
    static class Shop {
        private final Orders orders;

        Shop(Orders orders) {
            this.orders = orders;
        }

        @GetMapping("/orders/new")
        String form(Model model) {
            model.addAttribute("key", KeyField.fresh());
            return "order-form";
        }

        @PostMapping("/orders")
        @Idempotent(keyField = "idempotency_key")
        String place(@RequestParam String item) {
            return "redirect:/orders/" + orders.place(item);
        }
    }

    private static RunningSample start(String... properties) {
        String[] all = new String[properties.length + 2];
        System.arraycopy(properties, 0, all, 2, properties.length);
        all[0] = "--onlyonce.store=memory";
        all[1] = "--onlyonce.anonymous-tenant=everybody";
        return new RunningSample(App.class, "", all);
    }

    /** What is in the hidden field of a page that is opened now. */
    private static String open(RunningSample app) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:" + app.port() + "/orders/new"))
                .build();
        HttpResponse<String> page = BROWSER.send(request, BodyHandlers.ofString());
        Matcher hidden = HIDDEN.matcher(page.body());
        assertThat(hidden.find()).as("%s %s", page, page.body()).isTrue();
        return hidden.group(1) + "=" + hidden.group(2);
    }

    private static HttpResponse<String> submit(RunningSample app, String form, String... headers) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://localhost:" + app.port() + "/orders"))
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(BodyPublishers.ofString(form, StandardCharsets.US_ASCII));
        if (headers.length > 0) {
            request.headers(headers);
        }
        return BROWSER.send(request.build(), BodyHandlers.ofString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"false", "true"})
    @DisplayName(
            "R1 K2 the second press of the button gets the redirect of the first; a page that is opened anew is another order")
    void pressedTwice(String readBefore) throws Exception {
        try (RunningSample app = start("--forms.csrf=" + readBefore)) {
            String key = open(app);
            HttpResponse<String> first = submit(app, "item=a+tea+pot&" + key);
            HttpResponse<String> second = submit(app, "item=a+tea+pot&" + key);
            assertThat(first.statusCode()).isEqualTo(302);
            assertThat(first.headers().firstValue("Location"))
                    .hasValueSatisfying(to -> assertThat(to).endsWith("/orders/1"));
            assertThat(second.headers().firstValue("Location"))
                    .isEqualTo(first.headers().firstValue("Location"));
            assertThat(RunningSample.isReplay(second)).isTrue();
            assertThat(submit(app, "item=a+tea+pot&" + open(app)).headers().firstValue("Location"))
                    .hasValueSatisfying(to -> assertThat(to).endsWith("/orders/2"));
            assertThat(submit(app, "item=a+cup&" + key).statusCode()).isEqualTo(422);
            assertThat(submit(app, "item=a+tea+pot").statusCode()).isEqualTo(400);
            assertThat(submit(app, "item=a+tea+pot&" + key, "Idempotency-Key", "another")
                            .statusCode())
                    .isEqualTo(400);
            assertThat(app.bean(Orders.class).placed).hasValue(2);
        }
    }

    @Test
    @DisplayName("the name of the field can be set without the code")
    void configured() throws Exception {
        try (RunningSample app = start("--onlyonce.operations.[POST /orders].key-field=token")) {
            assertThat(submit(app, "item=a+tea+pot&token=k-1").statusCode()).isEqualTo(302);
            assertThat(submit(app, "item=a+tea+pot&idempotency_key=k-1").statusCode())
                    .isEqualTo(400);
            Map<String, Object> published = org.springframework.boot.json.JsonParserFactory.getJsonParser()
                    .parseMap(app.get("/.well-known/idempotency", "none").body());
            assertThat(published.get("operations").toString()).contains("keyField=token");
        }
    }

    @Test
    @DisplayName("the guide shows what runs here")
    void guide() throws Exception {
        Path root = Path.of(System.getProperty("onlyonce.root"));
        Matcher shown = JAVA.matcher(Files.readString(root.resolve("docs/guides/spring-boot.md")));
        assertThat(shown.find()).isTrue();
        String here = Files.readString(root.resolve("web/spring-boot-starter/src/test/java")
                .resolve(FormsTest.class.getName().replace('.', '/') + ".java"));
        assertThat(here.replaceAll("\\s", "")).contains(shown.group(1).replaceAll("\\s", ""));
    }
}
