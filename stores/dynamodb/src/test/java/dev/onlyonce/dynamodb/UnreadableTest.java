package dev.onlyonce.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.Transition;
import dev.onlyonce.testservers.DynamoDbServer;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Items that somebody has overwritten, and lists that others need all the same. */
@DisplayName("An item of DynamoDB that cannot be read")
@DisabledIfSystemProperty(named = DynamoDbServer.PROPERTY, matches = "false", disabledReason = "-Ddynamodb.local=false")
class UnreadableTest {
    private static DynamoDbServer server;

    @BeforeAll
    static void start() {
        server = DynamoDbServer.shared();
    }

    @ParameterizedTest
    @CsvSource({"f, 99", "s, 99", "ca, x", "fp, x"})
    @DisplayName("D11 is left out of lists and audits, which go on with all others")
    void listed(String attribute, String value) {
        String table = "unreadable-" + attribute;
        try (DynamoDbStore store = DynamoDbStore.builder(
                        "dynamodb:" + table + "?region=eu-central-1&endpoint=" + server.endpoint())
                .credentials("local", "local")
                .create(true)
                .build()) {
            List<ClaimRequest> claims =
                    IntStream.range(0, 6).mapToObj(i -> Calls.claim("key-" + i)).toList();
            store.claim(claims);
            store.settle(claims.stream()
                    .map(claim -> Calls.settlement(
                            claim, claim.equals(claims.get(0)) ? State.COMPLETED : State.UNKNOWN, Optional.empty()))
                    .toList());
            EntryId bad = claims.get(3).id();
            overwrite(table, bad, attribute, value);
            List<EntryId> others = claims.stream()
                    .map(ClaimRequest::id)
                    .filter(id -> !id.equals(bad))
                    .toList();

            assertThat(store.list(EntryQuery.all(100))).extracting(Entry::id).containsExactlyElementsOf(others);
            assertThat(store.list(EntryQuery.all(100).in(State.UNKNOWN)))
                    .extracting(Entry::id)
                    .containsExactlyElementsOf(others.subList(1, others.size()));
            assertThat(store.audit(AuditQuery.all(100)))
                    .extracting(record -> record.transition().id())
                    .containsAll(others);
            assertThat(store.countStored(null, 100)).isGreaterThanOrEqualTo(others.size());
            assertThatThrownBy(() -> store.find(List.of(bad))).isInstanceOf(StoreRejected.class);
            assertThatThrownBy(() -> store.claim(List.of(Calls.claim(bad.key()))))
                    .isInstanceOf(StoreRejected.class);
            assertThat(store.find(others)).allMatch(Optional::isPresent);
        }
    }

    @ParameterizedTest
    @CsvSource({"ol, 99", "la, x", "rv, x", "lg, x"})
    @DisplayName("D11 fails for itself alone: others are claimed and swept beside it, and what was swept is reported")
    void alone(String attribute, String value) {
        String table = "unreadable-alone-" + attribute;
        ManualClock clock = new ManualClock();
        try (DynamoDbStore store = DynamoDbStore.builder(
                        "dynamodb:" + table + "?region=eu-central-1&endpoint=" + server.endpoint())
                .credentials("local", "local")
                .create(true)
                .clock(clock)
                .build()) {
            ClaimRequest bad = Calls.claim("bad");
            ClaimRequest good = Calls.claim("good");
            store.claim(List.of(bad, good));
            overwrite(table, bad.id(), attribute, value);
            ClaimRequest fresh = Calls.claim("fresh");
            assertThat(store.claim(List.of(Calls.claim("bad"), fresh)).get(1)).isEqualTo(new ClaimResult.Claimed(1));
            clock.advance(Calls.LEASE.plusSeconds(1));

            assertThat(store.sweep(100)).extracting(Transition::id).containsExactlyInAnyOrder(good.id(), fresh.id());
            assertThatThrownBy(() -> store.sweep(100))
                    .isInstanceOf(StoreRejected.class)
                    .hasMessageContaining("The entry acme b…(3) cannot be read");
        }
    }

    private static void overwrite(String table, EntryId id, String attribute, String value) {
        boolean isNumber = Character.isDigit(value.charAt(0));
        try (DynamoDbAsyncClient client = DynamoDbAsyncClient.builder()
                .endpointOverride(URI.create(server.endpoint()))
                .region(Region.EU_CENTRAL_1)
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("local", "local")))
                .build()) {
            client.updateItem(r -> r.tableName(table)
                            .key(ItemKey.of(id).map())
                            .updateExpression("SET " + attribute + " = :v")
                            .expressionAttributeValues(
                                    Map.of(":v", isNumber ? AttributeValue.fromN(value) : AttributeValue.fromS(value))))
                    .join();
        }
    }
}
