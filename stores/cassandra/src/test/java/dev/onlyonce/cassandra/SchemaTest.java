package dev.onlyonce.cassandra;

import static dev.onlyonce.cassandra.ClusterClockTest.fake;
import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverTimeoutException;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.ExecutionInfo;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.metadata.Metadata;
import com.datastax.oss.driver.api.core.metadata.schema.KeyspaceMetadata;
import com.datastax.oss.driver.api.core.metadata.schema.TableMetadata;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Creating the keyspace")
class SchemaTest {
    private final List<String> sent = new ArrayList<>();
    /** What the driver knows. */
    private Optional<KeyspaceMetadata> keyspace = Optional.empty();

    private final CqlSession session = fake(
            CqlSession.class,
            Map.of(
                    "getMetadata",
                    arguments ->
                            fake(Metadata.class, Map.of("getKeyspace", name -> keyspace, "getNodes", none -> Map.of())),
                    "refreshSchema",
                    none -> {
                        keyspace = Optional.of(created());
                        return null;
                    },
                    "execute",
                    arguments -> execute(arguments[0]),
                    "checkSchemaAgreement",
                    none -> {
                        sent.add("agreed?");
                        return sent.size() > 2;
                    }));

    private static KeyspaceMetadata created() {
        TableMetadata table = fake(TableMetadata.class, Map.of("getOptions", none -> Map.of()));
        return fake(
                KeyspaceMetadata.class,
                Map.of("getTable", name -> Optional.of(table), "isDurableWrites", none -> true));
    }

    private ResultSet execute(Object statement) {
        sent.add(statement instanceof SimpleStatement simple ? simple.getQuery() : statement.toString());
        boolean isAgreed = sent.size() > 1;
        ExecutionInfo info = fake(ExecutionInfo.class, Map.of("isSchemaInAgreement", none -> isAgreed));
        return fake(ResultSet.class, Map.of("getExecutionInfo", none -> info));
    }

    @Test
    @DisplayName("waits until all nodes know it, however busy they are, before it is used")
    void agreement() {
        new Schema(session, "payments").create("dc1", 0, () -> {});

        assertThat(sent.get(0)).startsWith("CREATE KEYSPACE IF NOT EXISTS payments");
        assertThat(sent.subList(1, 4)).containsExactly("agreed?", "agreed?", "USE payments");
        assertThat(sent.subList(4, sent.size())).hasSize(5).allMatch(statement -> statement.startsWith("CREATE TABLE"));
    }

    @Test
    @DisplayName("and using it at once: what the driver has not seen yet is not missing")
    void unseen() {
        new Schema(session, "payments").check();

        assertThat(keyspace).isPresent();
        assertThat(sent).containsExactly("USE payments");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("records the layout, also if the answer is lost, and whether it was recorded then or not")
    void lostAnswer(boolean isRecorded) {
        List<Row> recorded = new ArrayList<>();
        AtomicInteger inserts = new AtomicInteger();
        Row ours = fake(Row.class, Map.of("getString", name -> "version 1, shards 16"));
        CqlSession busy = fake(CqlSession.class, Map.of("executeAsync", arguments -> {
            if (((SimpleStatement) arguments[0]).getQuery().startsWith("SELECT")) {
                return answer(recorded);
            }
            boolean isLost = inserts.incrementAndGet() == 1;
            if (!isLost || isRecorded) {
                recorded.add(ours);
            }
            return isLost ? CompletableFuture.failedFuture(new DriverTimeoutException("lost")) : answer(List.of());
        }));

        Schema.checkLayout(new Link(busy, ConsistencyLevel.QUORUM, ConsistencyLevel.SERIAL), 16);

        assertThat(inserts).hasValue(isRecorded ? 1 : 2);
    }

    /** As a fake method returns it: the link gets the future. */
    @SuppressWarnings("FutureReturnValueIgnored")
    private static Object answer(List<Row> rows) {
        return CompletableFuture.completedFuture(fake(
                AsyncResultSet.class, Map.of("currentPage", none -> List.copyOf(rows), "hasMorePages", none -> false)));
    }
}
