package dev.onlyonce.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.OpenClaim;
import dev.onlyonce.Outcome;
import dev.onlyonce.Way;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Time;
import dev.onlyonce.testservers.DynamoDbServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;

@DisplayName("Transactions on DynamoDB")
@DisabledIfSystemProperty(named = DynamoDbServer.PROPERTY, matches = "false", disabledReason = "-Ddynamodb.local=false")
class DynamoDbTransactionsTest {
    private static final Fingerprint REQUEST = Fingerprint.of(new byte[] {1});
    private static final AtomicInteger RUNS = new AtomicInteger();

    /** Of this run of the class: the server outlives it. */
    private static String accounts;

    private static DynamoDbServer server;
    private static Relay relay;
    private static DynamoDbAsyncClient client;
    private static DynamoDbStore store;
    private static Onlyonce once;
    /** Does not know what runs on the first one. */
    private static Onlyonce other;

    @BeforeAll
    static void start() {
        server = DynamoDbServer.shared();
        relay = new Relay(server.endpoint());
        client = BusinessTables.client(server.endpoint());
        accounts = "accounts-" + RUNS.incrementAndGet();
        BusinessTables.create(client, accounts);
        store = DynamoDbStore.builder("dynamodb:entries-" + RUNS + "?region=eu-central-1&endpoint=" + relay.endpoint())
                .credentials("local", "local")
                .create(true)
                .build();
        once = node();
        other = node();
    }

    private static Onlyonce node() {
        return Onlyonce.builder(store)
                .sweepEvery(Duration.ofHours(1))
                .purgeEvery(Duration.ofHours(1))
                .cacheBytesMax(0)
                .build();
    }

    @AfterAll
    static void stop() {
        other.close();
        once.close();
        store.close();
        client.close();
        relay.close();
    }

    @AfterEach
    void relayAll() {
        relay.script(step -> step);
    }

    private static Key key(String key) {
        return Key.of("acme", "POST /deposits", key);
    }

    /** Adds one to an account, unless that is frozen. */
    private static Outcome<String> deposit(String account) {
        return deposit(once, account);
    }

    private static Outcome<String> deposit(Onlyonce node, String account) {
        return DynamoDbTransactions.of(node).execute(key(account), REQUEST, String.class, (claim, writes) -> {
            writes.update(u -> u.tableName(accounts)
                    .key(id(account))
                    .updateExpression("ADD balance :one")
                    .conditionExpression("attribute_not_exists(frozen)")
                    .expressionAttributeValues(Map.of(":one", AttributeValue.fromN("1"))));
            return "deposited";
        });
    }

    private static Map<String, AttributeValue> id(String account) {
        return Map.of("id", AttributeValue.fromS(account));
    }

    private static String balance(String account) {
        var item = client.getItem(r -> r.tableName(accounts).key(id(account)).consistentRead(true))
                .join();
        return item.hasItem() && item.item().containsKey("balance")
                ? item.item().get("balance").n()
                : "0";
    }

    private static State state(String account) {
        return once.find(key(account)).orElseThrow().state();
    }

    @Test
    @DisplayName(
            "are the TRANSACTIONAL way, which can be declared; ways that need SQL are refused, with those that there are")
    void declared() {
        String operation = "POST /deposits";
        try (Onlyonce declared = Onlyonce.builder(store)
                .operation(operation, o -> o.way(Way.TRANSACTIONAL))
                .build()) {
            Key key = Key.of("acme", operation, "declared");
            assertThat(DynamoDbTransactions.of(declared).execute(key, REQUEST, String.class, (claim, writes) -> "done"))
                    .isInstanceOf(Outcome.Executed.class);
            assertThatThrownBy(() -> declared.execute(key, REQUEST, String.class, claim -> "done"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("TRANSACTIONAL");
        }
        Onlyonce.Builder queued = Onlyonce.builder(store).operation(operation, o -> o.way(Way.QUEUED));
        assertThatThrownBy(queued::build)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("use a SqlStore, or the LEASED or TRANSACTIONAL way");
    }

    @Test
    @DisplayName("W1 write and record together, once; a retry is answered with the result")
    void together() {
        assertThat(deposit("simple")).isInstanceOf(Outcome.Executed.class);
        assertThat(deposit("simple"))
                .isInstanceOfSatisfying(
                        Outcome.Replayed.class,
                        replayed -> assertThat(replayed.value()).isEqualTo("deposited"));
        assertThat(balance("simple")).isEqualTo("1");
        assertThat(store.history(key("simple").entryId())).hasSize(2);
    }

    @Test
    @DisplayName("W1 whose own condition does not hold have no effect, and the next request runs")
    void refused() {
        client.putItem(r -> r.tableName(accounts)
                        .item(Map.of("id", AttributeValue.fromS("cold"), "frozen", AttributeValue.fromBool(true))))
                .join();
        assertThatThrownBy(() -> deposit("cold")).isInstanceOf(TransactionCanceledException.class);
        assertThat(state("cold")).isEqualTo(State.RETRYABLE);
        client.deleteItem(r -> r.tableName(accounts).key(id("cold"))).join();
        assertThat(deposit("cold")).isInstanceOf(Outcome.Executed.class);
        assertThat(balance("cold")).isEqualTo("1");
    }

    @Test
    @DisplayName("W1 whose action throws write nothing, and the next request runs")
    void thrown() {
        IllegalStateException mine = new IllegalStateException("no");
        assertThatThrownBy(() -> DynamoDbTransactions.of(once)
                        .execute(key("thrown"), REQUEST, String.class, (claim, writes) -> {
                            throw mine;
                        }))
                .isSameAs(mine);
        assertThat(state("thrown")).isEqualTo(State.RETRYABLE);
        assertThat(deposit("thrown")).isInstanceOf(Outcome.Executed.class);
    }

    @Test
    @DisplayName("W1 C4 whose answer is lost are recognised: once, and every time")
    void lost() {
        AtomicInteger calls = new AtomicInteger();
        relay.script(step ->
                step.operation().equals("TransactWriteItems") && calls.getAndIncrement() == 0 ? step.lost() : step);
        assertThat(deposit("lost-once")).isInstanceOf(Outcome.Executed.class);
        relay.script(step -> step.operation().equals("TransactWriteItems") ? step.lost() : step);
        assertThat(deposit("lost")).isInstanceOf(Outcome.Executed.class);
        relay.script(step -> step);
        for (String account : new String[] {"lost-once", "lost"}) {
            assertThat(deposit(account)).isInstanceOf(Outcome.Replayed.class);
            assertThat(balance(account)).isEqualTo("1");
        }
    }

    @Test
    @DisplayName("W1 that were not executed are proven so: the claim is released, and the next request runs")
    void notExecuted() {
        relay.script(step -> step.operation().equals("TransactWriteItems")
                ? new Relay.Step(step.operation(), false, "cut", "")
                : step);
        assertThatThrownBy(() -> deposit("dropped"))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("was not executed");
        relay.script(step -> step);
        assertThat(state("dropped")).isEqualTo(State.RETRYABLE);
        assertThat(balance("dropped")).isEqualTo("0");
        assertThat(deposit("dropped")).isInstanceOf(Outcome.Executed.class);
        assertThat(balance("dropped")).isEqualTo("1");
    }

    @Test
    @DisplayName("W1 whose answer is lost before everything fails are unknown, not unavailable: calling again tells")
    void lostForGood() {
        AtomicInteger sent = new AtomicInteger();
        relay.script(step -> step.operation().equals("TransactWriteItems") && sent.getAndIncrement() == 0
                ? step.lost()
                : sent.get() > 0 ? new Relay.Step(step.operation(), false, "cut", "") : step);
        assertThatThrownBy(() -> deposit("doubtful")).isInstanceOf(StoreOutcomeUnknown.class);
        relay.script(step -> step);
        assertThat(balance("doubtful")).isEqualTo("1");
        assertThat(deposit(other, "doubtful")).isInstanceOf(Outcome.Replayed.class);
        assertThat(balance("doubtful")).isEqualTo("1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"})
    @DisplayName(
            "D9 that are cancelled because of load or a conflict are busy, and not refused by the action's conditions")
    void conflict(String reason) {
        relay.script(step -> step.operation().equals("TransactWriteItems") ? step.cancelled(reason, "None") : step);
        assertThatThrownBy(() -> deposit(reason)).isInstanceOf(StoreBusy.class);
        relay.script(step -> step);
        assertThat(state(reason)).isEqualTo(State.RETRYABLE);
        assertThat(deposit(reason)).isInstanceOf(Outcome.Executed.class);
        assertThat(balance(reason)).isEqualTo("1");
    }

    @Test
    @DisplayName("W1 whose claim was lost in between write nothing, and are not refused by the action's conditions")
    void fenced() {
        Key key = key("fenced");
        assertThatThrownBy(() -> DynamoDbTransactions.of(once).execute(key, REQUEST, String.class, (claim, writes) -> {
                    UUID token = ((OpenClaim) claim).token();
                    store.settle(List.of(
                            Settlement.of(key.entryId(), token, State.RETRYABLE, Optional.empty(), "as a sweep")));
                    assertThat(deposit(other, "fenced")).isInstanceOf(Outcome.Executed.class);
                    writes.update(u -> u.tableName(accounts)
                            .key(id("fenced"))
                            .updateExpression("ADD balance :one")
                            .expressionAttributeValues(Map.of(":one", AttributeValue.fromN("1"))));
                    return "deposited";
                }))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("claim was lost");
        assertThat(balance("fenced")).isEqualTo("1");
        assertThat(deposit("fenced")).isInstanceOf(Outcome.Replayed.class);
    }

    @Test
    @DisplayName("W1 with writes that DynamoDB never takes are rejected, and the next request runs")
    void invalid() {
        assertThatThrownBy(() -> DynamoDbTransactions.of(once)
                        .execute(key("invalid"), REQUEST, String.class, (claim, writes) -> {
                            for (int i = 0; i < 2; i++) {
                                writes.delete(d -> d.tableName(accounts).key(id("invalid")));
                            }
                            return "twice";
                        }))
                .isInstanceOf(StoreRejected.class)
                .hasMessageContaining("multiple operations on one item");
        assertThat(deposit("invalid")).isInstanceOf(Outcome.Executed.class);
    }

    @Test
    @DisplayName("are refused on another store")
    void otherStore() {
        try (Time time = Time.system();
                MemoryStore memory = new MemoryStore(time);
                Onlyonce other = Onlyonce.builder(memory).build()) {
            assertThatThrownBy(() -> DynamoDbTransactions.of(other))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("MemoryStore");
        }
    }
}
