package dev.onlyonce.cassandra;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.loadbalancing.NodeDistance;
import com.datastax.oss.driver.api.core.metadata.Metadata;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.metadata.NodeState;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The cluster's clock")
class ClusterClockTest {
    private static final Instant TIME = Instant.ofEpochSecond(1_900_000_000);

    private final Map<UUID, Node> nodes = new LinkedHashMap<>();
    private final Map<UUID, Duration> wrong = new LinkedHashMap<>();

    private final CqlSession session = fake(
            CqlSession.class,
            Map.of(
                    "getMetadata", arguments -> fake(Metadata.class, Map.of("getNodes", none -> Map.copyOf(nodes))),
                    "executeAsync", arguments -> answer(((Statement<?>) arguments[0]).getNode())));

    /** Has these methods alone. */
    @SuppressWarnings("unchecked")
    static <T> T fake(Class<T> type, Map<String, Function<Object[], Object>> methods) {
        return (T) Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) -> methods.get(method.getName()).apply(arguments));
    }

    /** As a fake method returns it: the clock gets the future. */
    @SuppressWarnings("FutureReturnValueIgnored")
    private Object answer(Node node) {
        Row row = fake(Row.class, Map.of("getInstant", column -> TIME.plus(wrong.get(node.getHostId()))));
        return CompletableFuture.completedFuture(fake(AsyncResultSet.class, Map.of("one", none -> row)));
    }

    private void add(int number, Duration off) {
        UUID id = new UUID(0, number);
        wrong.put(id, off);
        nodes.put(
                id,
                fake(
                        Node.class,
                        Map.of(
                                "getHostId", none -> id,
                                "getDistance", none -> NodeDistance.LOCAL,
                                "getState", none -> NodeState.UP)));
    }

    private static Duration off(ClusterClock clock) {
        return Duration.between(TIME, Micros.instant(clock.now()));
    }

    @Test
    @DisplayName("T5 is the median of the nodes that there are: those that were removed have no say")
    void removed() {
        for (int number = 1; number <= 3; number++) {
            add(number, Duration.ofMinutes(-3));
        }
        ClusterClock clock = new ClusterClock(session);
        assertThat(off(clock)).isLessThan(Duration.ofMinutes(-2));

        nodes.clear();
        for (int number = 4; number <= 6; number++) {
            add(number, Duration.ZERO);
        }
        clock.refresh().join();
        assertThat(off(clock)).isGreaterThan(Duration.ofMinutes(-1));

        add(7, Duration.ofHours(1));
        clock.refresh().join();
        assertThat(off(clock)).as("one wrong clock is outvoted").isLessThan(Duration.ofMinutes(1));
        assertThat(clock.spread()).isGreaterThan(Micros.of(Duration.ofMinutes(59)));
    }
}
