package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.server.config.ConfigFile;
import dev.onlyonce.server.config.EffectiveConfig;
import dev.onlyonce.server.config.Listen;
import dev.onlyonce.server.config.Settings;
import dev.onlyonce.server.config.Tenancy;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The effective configuration")
class EffectiveConfigTest {
    @TempDir
    Path folder;

    private Path file(String yaml) throws Exception {
        return Files.writeString(folder.resolve("gateway.yaml"), yaml);
    }

    @Test
    @DisplayName("takes environment variables with the names of settings, which win over the file")
    void environment() throws Exception {
        Settings settings = ConfigFile.read(
                        file("listen: {port: 1, http2: true}\nupstreams: [{url: http://a, name: b}]"),
                        Map.of(
                                "ONLYONCE_LISTEN_PORT", "2",
                                "ONLYONCE_LISTEN_DRAIN_GRACE", "7s",
                                "ONLYONCE_LISTEN_TRUSTED_PROXIES", "10.0.0.0/8, 192.168.0.0/16",
                                "ONLYONCE_TENANTS_FIXED", "acme",
                                "ONLYONCE_NODE", "n1",
                                "ONLYONCE_UPSTREAM", "http://c:3",
                                "ONLYONCE_JAVA_OPTS", "-Xmx1g",
                                "LISTEN_PORT", "9"))
                .settings();
        assertThat(settings.listen().port()).isEqualTo(2);
        assertThat(settings.listen().http2()).isTrue();
        assertThat(settings.listen().limits().drainGrace()).isEqualTo(Duration.ofSeconds(7));
        assertThat(settings.listen().trustedProxies()).hasSize(2);
        assertThat(settings.protection().tenancy())
                .isInstanceOfSatisfying(
                        Tenancy.Shared.class,
                        shared -> assertThat(shared.toString()).contains("acme"));
        assertThat(settings.node()).isEqualTo("n1");
        assertThat(settings.upstreams()).singleElement().satisfies(upstream -> {
            assertThat(upstream.url()).isEqualTo(URI.create("http://c:3"));
            assertThat(upstream.name()).isEqualTo("b");
        });
    }

    @Test
    @DisplayName("needs no file, and names the variable that is wrong")
    void withoutFile() throws Exception {
        Settings settings =
                ConfigFile.none(Map.of("ONLYONCE_UPSTREAM", "http://a")).settings();
        assertThat(settings.data()).isEqualTo(Path.of("data"));
        assertThat(settings.listen()).isEqualTo(Listen.plain("0.0.0.0", 8090));
        assertThatThrownBy(() -> ConfigFile.none(Map.of(
                        "ONLYONCE_UPSTREAM", "ftp://a", "ONLYONCE_LISTEN_PROT", "1", "ONLYONCE_STORE_AUDIT", "x")))
                .hasMessageContaining(
                        "ONLYONCE_LISTEN_PROT: there is no setting \"prot\" in listen; did you mean \"port\"?")
                .hasMessageContaining("ONLYONCE_STORE_AUDIT: store.audit: \"x\" is not one of")
                .hasMessageContaining("ONLYONCE_UPSTREAM: upstreams[0].url: \"ftp://a\" is not an upstream's URL");
    }

    @Test
    @DisplayName("is shown with its defaults, without secrets, and has the same effect as a file")
    void shown() throws Exception {
        EffectiveConfig effective = ConfigFile.read(file("""
                upstreams: [{url: http://a, response-timeout: 10s}]
                operations:
                  - path: /payments
                    method: POST
                    look-up:
                      request: GET /payments?key={key}
                      headers: {Authorization: Bearer hidden-1}
                      found: {status: 200}
                      absent: {status: 404}
                store: {url: "jdbc:postgresql://db/x?password=hidden-2", user: app, password: hidden-3}
                """), Map.of("ONLYONCE_DEFAULTS_PROFILE", "stripe"));
        String yaml = effective.yaml();
        assertThat(yaml)
                .contains("profile: stripe", "port: 8090", "idle-timeout: 75s", "retention: 1d")
                .contains("user: app", "response-timeout: 10s", "unmatched: pass", "logs: text")
                .doesNotContain("hidden");
        Settings again = ConfigFile.read(file(yaml.replace("password: '***'", "password: p")));
        assertThat(again.listen()).isEqualTo(effective.settings().listen());
        assertThat(again.observe()).isEqualTo(effective.settings().observe());
        assertThat(again.protection().operations()).hasSize(1);
        assertThat(again.upstreams().get(0).timeouts())
                .isEqualTo(effective.settings().upstreams().get(0).timeouts());
    }

    @Test
    @DisplayName("is what the example of the distribution says")
    void examples() throws Exception {
        Path dist = ConfigFileTest.root().resolve("programs/server/src/dist");
        assertThat(ConfigFile.read(dist.resolve("etc/gateway.yaml")).listen().port())
                .isEqualTo(8090);
    }
}
