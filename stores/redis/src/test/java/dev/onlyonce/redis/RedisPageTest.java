package dev.onlyonce.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.testservers.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The page about Redis")
class RedisPageTest {
    private static final Path PAGE = Path.of(System.getProperty("onlyonce.root"), "docs/reference/redis.md");

    private static List<MatchResult> found(String pattern) throws IOException {
        return Pattern.compile(pattern, Pattern.MULTILINE)
                .matcher(Files.readString(PAGE))
                .results()
                .toList();
    }

    @Test
    @DisplayName("names settings that exist, with values that they take")
    void settings() throws IOException {
        List<MatchResult> rows = found("^\\| `(\\w+)` \\| `?(\\w+)`? \\|");
        assertThat(rows).hasSize(7);
        for (MatchResult row : rows) {
            assertThat(RedisStore.builder("redis://host:1?" + row.group(1) + "=" + row.group(2)))
                    .isNotNull();
        }
    }

    @Test
    @DisplayName("gives a user exactly what a store needs")
    void user() throws IOException {
        String rule = found("`(ACL SETUSER [^`]+)`").get(0).group(1);
        try (RedisServer server = RedisServer.start()) {
            assertThat(server.command(rule)).isEqualTo("+OK");
            try (RedisStore store = RedisStore.open("redis://onlyonce:secret@127.0.0.1:" + server.port())) {
                ClaimRequest claim = Calls.claim("key");
                store.claim(List.of(claim));
                store.settle(List.of(Calls.completed(claim)));
                assertThat(store.list(EntryQuery.all(10))).hasSize(1);
                assertThat(store.countStored("acme", 10)).isEqualTo(1);
                assertThat(store.audit(AuditQuery.all(10))).hasSize(2);
                assertThat(store.sweep(10)).isEmpty();
                assertThat(store.purge(10)).isZero();
                assertThat(store.purgeAudit(Duration.ofDays(1), 10)).isZero();
                assertThat(store.evict(claim.id(), "operator", "test")).isPresent();
                store.checkWritable();
            }
        }
    }
}
