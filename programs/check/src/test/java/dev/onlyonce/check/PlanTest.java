package dev.onlyonce.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.check.wire.HeaderLine;
import java.net.URI;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A plan")
class PlanTest {
    private static Plan.Builder plan(String url, String body) {
        return Plan.builder(URI.create(url), body);
    }

    @Test
    @DisplayName("knows which hosts are this machine")
    void loopback() {
        assertThat(plan("http://127.0.0.1:1/", "{}").build().isLoopback()).isTrue();
        assertThat(plan("http://[::1]:1/", "{}").build().isLoopback()).isTrue();
        assertThat(plan("http://localhost/", "{}").build().isLoopback()).isTrue();
        assertThat(plan("http://192.0.2.1/", "{}").build().isLoopback()).isFalse();
    }

    @Test
    @DisplayName("counts the requests of the selected checks before anything is sent")
    void effects() {
        int all = plan("http://127.0.0.1:1/", "{}").build().requestsMax();
        int one = plan("http://127.0.0.1:1/", "{}")
                .checks(EnumSet.of(Check.RACE))
                .build()
                .requestsMax();
        assertThat(one).isBetween(175, 400);
        assertThat(all).isBetween(400, 800);
    }

    @Test
    @DisplayName("makes another body by changing one value, and the same body in another form")
    void bodies() {
        assertThat(plan("http://a/", "{\"to\": \"bob\", \"amount\": 1}").build().otherBody())
                .isEqualTo("{\"to\":\"bob\",\"amount\":2}");
        assertThat(plan("http://a/", "{\"to\": \"bob\"}").build().otherBody()).isEqualTo("{\"to\":\"bobx\"}");
        assertThat(plan("http://a/", "{}").build().otherBody()).isEqualTo("{\"onlyonce-check\":1}");
        assertThat(plan("http://a/", "a=1").build().otherBody()).isEqualTo("a=1&onlyonce-check=1");
        assertThat(Json.reserialised(Objects.requireNonNull(plan("http://a/", "{\"a\":1.50,\"b\":[{\"c\":1,\"d\":2}]}")
                        .build()
                        .json())))
                .containsSubsequence("\"b\"", "\"d\"", "\"c\"", "\"a\"", "1.5");
    }

    @Test
    @DisplayName("replaces the headers of the first tenant by those of the second")
    void tenants() {
        Plan plan = plan("http://a/", "{}")
                .headers(List.of(new HeaderLine("Authorization", "one"), new HeaderLine("X-Other", "o")))
                .secondTenant(List.of(new HeaderLine("authorization", "two")))
                .build();
        assertThat(plan.secondTenantHeaders())
                .extracting(HeaderLine::value)
                .containsExactly("o", "application/json", "two");
    }

    @Test
    @DisplayName("reads the place of a counter")
    void counter() {
        EffectCounter counter = EffectCounter.parse("http://a/x?y=1#/total/0");
        assertThat(counter.url()).isEqualTo(URI.create("http://a/x?y=1"));
        assertThat(counter.pointer().toString()).isEqualTo("/total/0");
        assertThat(EffectCounter.parse("http://a/x").pointer().matches()).isTrue();
        assertThatThrownBy(() -> EffectCounter.parse("http://a/x#total")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> EffectCounter.parse("/x")).isInstanceOf(IllegalArgumentException.class);
    }
}
