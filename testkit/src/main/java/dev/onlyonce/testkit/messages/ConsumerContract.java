package dev.onlyonce.testkit.messages;

import static org.junit.jupiter.api.TestInstance.Lifecycle.PER_METHOD;

import dev.onlyonce.Onlyonce;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;

/**
 * What every consumer of a broker must do, checked with the real broker and a real database. The author of an adapter extends this
 * class and skips nothing:
 *
 * <pre>{@code
 * class KafkaConsumerTest extends ConsumerContract {
 *     protected ConsumedTopic topic() {
 *         return new KafkaTopic(broker);
 *     }
 *
 *     protected DataSource database() {
 *         return pool(PostgresServer.shared().createDatabase());
 *     }
 *
 *     protected Onlyonce open(DataSource source) {
 *         return Onlyonce.builder(SqlStore.open(source)).build();
 *     }
 * }
 * }</pre>
 *
 * <p>Each test uses a new instance of the class, a new topic and a new database. The parts are the interfaces that this class implements.
 */
@TestInstance(PER_METHOD)
public abstract class ConsumerContract
        implements RepeatPart, BadInputPart, FailurePart, NeighbourPart, TroublePart, LeasedPart {
    private @Nullable ConsumerBench bench;

    /** A new topic or queue, on a broker that may serve others. */
    protected abstract ConsumedTopic topic() throws Exception;

    /** A new and empty database: PostgreSQL, or another that knows identity columns. It is closed after the test if it can be. */
    protected abstract DataSource database() throws Exception;

    /** An engine on a SQL store in this database. */
    protected abstract Onlyonce open(DataSource source);

    /** For the parts. */
    @Override
    public final ConsumerBench bench() {
        if (bench == null) {
            throw new IllegalStateException("the test has not begun");
        }
        return bench;
    }

    @BeforeEach
    final void openBench() throws Exception {
        bench = new ConsumerBench(topic(), database(), this::open);
    }

    @AfterEach
    final void closeBench() throws Exception {
        if (bench != null) {
            bench.close();
        }
    }
}
