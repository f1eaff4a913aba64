package dev.onlyonce.payments;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.yaml.snakeyaml.Yaml;

class OpenApiTest {
    private static final Set<String> METHODS = Set.of("get", "put", "post", "delete", "patch", "head", "options");

    @TempDir
    private Path folder;

    @Test
    @DisplayName(
            "The OpenAPI document names exactly the routes that there are, and those outside the controllers answer")
    void routes() throws Exception {
        try (PaymentsServer server = PaymentsServer.start("jdbc:sqlite:" + folder.resolve("payments.db"))) {
            String document = server.send("GET", "/openapi.yaml", "").body();
            Map<String, Map<String, Object>> paths = new Yaml()
                    .<Map<String, Map<String, Map<String, Object>>>>load(document)
                    .get("paths");
            Set<String> documented = new TreeSet<>();
            paths.forEach((path, item) -> item.keySet().stream()
                    .filter(METHODS::contains)
                    .forEach(method -> documented.add(method.toUpperCase(Locale.ROOT) + " " + path)));

            Set<String> real = new TreeSet<>();
            server.context()
                    .getBean("requestMappingHandlerMapping", RequestMappingHandlerMapping.class)
                    .getHandlerMethods()
                    .keySet()
                    .forEach(info -> info.getPatternValues()
                            .forEach(path -> info.getMethodsCondition()
                                    .getMethods()
                                    .forEach(method -> real.add(method + " " + path))));
            real.removeIf(route -> route.contains("/error"));
            for (String outside : Set.of("/health", "/metrics", "/.well-known/idempotency")) {
                assertThat(server.send("GET", outside, "").status()).as(outside).isEqualTo(200);
                real.add("GET " + outside);
            }
            assertThat(server.send("GET", "/.well-known/idempotency/status", "", "Idempotency-Key", "nobody")
                            .status())
                    .isEqualTo(404);
            real.add("GET /.well-known/idempotency/status");
            assertThat(server.send("POST", "/webhooks/provider", "{}").status()).isEqualTo(401);
            real.add("POST /webhooks/provider");

            assertThat(documented).isEqualTo(real);
        }
    }
}
