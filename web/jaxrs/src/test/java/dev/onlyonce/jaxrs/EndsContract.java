package dev.onlyonce.jaxrs;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.UUID;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** How each end of a resource method is recorded, in any implementation of JAX-RS. */
interface EndsContract {
    URI base();

    @Test
    @DisplayName("R1 a response is replayed: without a body, after a refusal, from an asynchronous method")
    default void replayed() throws Exception {
        for (String path : new String[] {"nothing", "refuses", "asynchronous"}) {
            String key = UUID.randomUUID().toString();
            HttpResponse<String> first = end(path, key);
            HttpResponse<String> retry = end(path, key);
            assertThat(first.headers().firstValue("Idempotent-Replayed"))
                    .as(path)
                    .isEmpty();
            assertThat(retry.headers().firstValue("Idempotent-Replayed"))
                    .as(path)
                    .contains("true");
            assertThat(retry.statusCode())
                    .as(path)
                    .isEqualTo(first.statusCode())
                    .isNotEqualTo(500);
            assertThat(retry.body()).as(path).isEqualTo(first.body());
            assertThat(Effects.counted(key)).as(path).isOne();
        }
    }

    @Test
    @DisplayName("D4 an exception that is answered with a 5xx is unknown, whoever answers it; so is a time-out")
    default void unknown() throws Exception {
        for (String path : new String[] {"throws", "mapped", "unavailable", "unwritable", "late"}) {
            String key = UUID.randomUUID().toString();
            assertThat(end(path, key).statusCode()).as(path).isGreaterThanOrEqualTo(500);
            HttpResponse<String> retry = end(path, key);
            assertThat(retry.statusCode()).as(path).isEqualTo(409);
            assertThat(retry.body()).as(path).contains("outcome_unknown");
            assertThat(Effects.counted(key)).as(path).isOne();
        }
    }

    @Test
    @DisplayName("D5 what proves that nothing was executed may run again")
    default void notExecuted() throws Exception {
        String key = UUID.randomUUID().toString();
        assertThat(end("not-executed", key).statusCode()).isEqualTo(500);
        assertThat(end("not-executed", key).statusCode()).isEqualTo(500);
        assertThat(Effects.counted(key)).isEqualTo(2);
    }

    private HttpResponse<String> end(String path, String key) throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create(base() + "/ends/" + path))
                                .header("Authorization", ConformanceResources.authorization("acme"))
                                .header("Idempotency-Key", key)
                                .header("X-Effect", key)
                                .POST(HttpRequest.BodyPublishers.noBody())
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
    }
}
