package dev.onlyonce.testkit;

import static org.junit.jupiter.api.TestInstance.Lifecycle.PER_METHOD;

import dev.onlyonce.store.Store;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;

/**
 * What every store must do: {@link Store}'s sentences as tests. The author of a store extends this class, says how to open
 * the store and how to move its clock, and skips nothing:
 *
 * <pre>{@code
 * final class MemoryStoreTest extends StoreContract {
 *     private final ManualTime time = new ManualTime();
 *     private final Store store = new MemoryStore(time);
 *
 *     protected Store open() {
 *         return store;
 *     }
 *
 *     protected void advance(Duration span) {
 *         time.jump(span);
 *     }
 * }
 * }</pre>
 *
 * <p>Each test uses a new instance of the class and starts with no entries. The chapters are the interfaces that this
 * class implements.
 */
@TestInstance(PER_METHOD)
public abstract class StoreContract
        implements ClaimChapter,
                SettleChapter,
                TableChapter,
                LeaseChapter,
                RetentionChapter,
                IdentityChapter,
                TargetChapter,
                BatchChapter,
                OperatorChapter,
                AuditChapter,
                HistoryChapter,
                RaceChapter {
    private final Bench bench = new Bench(this::open, this::advance);

    /**
     * Opens the store as another node of the same system would. Called several times in a test, on several threads never;
     * before the first time there are no entries, and every later store sees those of the earlier ones. Each store is
     * closed when the test is over.
     */
    protected abstract Store open();

    /**
     * Moves the clock of the store by exactly this span (whole microseconds), for all nodes; a negative one sets it back. Between the calls it should
     * stand still; if it runs by itself, every test still holds, but those at the edges of a lease or a retention prove
     * less.
     */
    protected abstract void advance(Duration span);

    /** For the chapters. */
    @Override
    public final Bench bench() {
        return bench;
    }

    @BeforeEach
    final void openNodes() {
        bench.open();
    }

    @AfterEach
    final void closeNodes() {
        bench.close();
    }
}
