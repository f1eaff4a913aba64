package dev.onlyonce.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.State;
import dev.onlyonce.testservers.DynamoDbServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

@DisplayName("The page about DynamoDB")
class DynamoDbPageTest {
    private static final Path PAGE = Path.of(System.getProperty("onlyonce.root"), "docs/reference/dynamodb.md");

    private static List<MatchResult> found(String pattern) throws IOException {
        return Pattern.compile(pattern, Pattern.MULTILINE)
                .matcher(Files.readString(PAGE))
                .results()
                .toList();
    }

    @Test
    @DisplayName("names settings that exist, with values that they take")
    void settings() throws IOException {
        List<MatchResult> rows = found("^\\| `(\\w+)` \\| `([^`]+)` \\|");
        assertThat(rows).hasSize(4);
        for (MatchResult row : rows) {
            assertThat(DynamoDbStore.builder("dynamodb:onlyonce?" + row.group(1) + "=" + row.group(2)))
                    .isNotNull();
        }
    }

    /** As on the page; that it works is tested with the transactions. */
    static Outcome<String> deposit(Onlyonce once, Key key, Fingerprint fingerprint) {
        Outcome<String> outcome = DynamoDbTransactions.of(once)
                .execute(key, fingerprint, String.class, (claim, writes) -> {
                    writes.update(u -> u.tableName("accounts")
                            .key(Map.of("id", AttributeValue.fromS("account-1")))
                            .updateExpression("ADD balance :amount")
                            .conditionExpression("attribute_exists(id)")
                            .expressionAttributeValues(Map.of(":amount", AttributeValue.fromN("10"))));
                    return "deposited";
                });
        return outcome;
    }

    @Test
    @DisplayName("shows a transaction as it is compiled here")
    void transaction() throws IOException {
        String shown =
                found("(?s)```java\n(Outcome<String> outcome.*?)```").get(0).group(1);
        String source = Files.readString(Path.of("src/test/java/dev/onlyonce/dynamodb/DynamoDbPageTest.java"));
        assertThat(source.replaceAll("\\s+", "")).contains(shown.replaceAll("\\s+", ""));
    }

    @Test
    @DisabledIfSystemProperty(
            named = DynamoDbServer.PROPERTY,
            matches = "false",
            disabledReason = "-Ddynamodb.local=false")
    @DisplayName("allows exactly the requests that a store sends")
    void policy() throws IOException {
        try (DynamoDbServer server = DynamoDbServer.start();
                Relay relay = new Relay(server.endpoint())) {
            String url = "dynamodb:page?region=eu-central-1&timeout=10s&endpoint=" + relay.endpoint();
            DynamoDbStore.builder(url)
                    .credentials("local", "local")
                    .create(true)
                    .build()
                    .close();
            relay.seen();
            try (DynamoDbStore store =
                    DynamoDbStore.builder(url).credentials("local", "local").build()) {
                work(store);
            }
            Set<String> allowed = found("\"dynamodb:(\\w+)\"").stream()
                    .map(match -> match.group(1))
                    .collect(Collectors.toSet());
            Set<String> sent = new HashSet<>(relay.seen());
            sent.add("DeleteItem"); // of an audit that has ended, 400 days later
            assertThat(sent).isEqualTo(allowed);
        }
    }

    private static void work(DynamoDbStore store) {
        ClaimRequest claim = Calls.claim("key");
        store.claim(List.of(claim));
        store.settle(List.of(Calls.settlement(claim, State.COMPLETED, Optional.empty())));
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
