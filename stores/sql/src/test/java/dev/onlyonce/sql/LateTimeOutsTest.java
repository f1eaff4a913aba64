package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreOutcomeUnknown;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Drivers of MySQL count the seconds themselves. If the server takes long to commit, they report a time-out although the
 * statement, which was a transaction of its own, has been committed.
 */
@DisplayName("A time-out that comes after the commit of a lone row")
final class LateTimeOutsTest {
    @TempDir
    private Path folder;

    private final AtomicInteger late = new AtomicInteger();
    private final AtomicInteger lostReads = new AtomicInteger();
    private final AtomicInteger refusedReads = new AtomicInteger();
    private HikariDataSource dataSource;
    private SqlStore witness;
    private SqlStore store;

    @BeforeEach
    void open() {
        dataSource = TestDatabase.MARIADB.create(folder);
        witness = SqlStore.open(dataSource);
        store = SqlStore.open(late(dataSource));
    }

    @AfterEach
    void close() {
        dataSource.close();
    }

    @Test
    @DisplayName("C5 leaves no claim that its caller does not know of, while batches go around locked rows too")
    void claims() {
        ClaimRequest first = Claims.claim("first");
        late.set(1);
        assertThat(store.claim(List.of(first))).containsExactly(new ClaimResult.Claimed(1));

        ClaimRequest second = Claims.claim("second");
        late.set(1);
        List<ClaimResult> results = store.claim(List.of(second));
        boolean stored = witness.find(List.of(second.id())).get(0).isPresent();
        assertThat(results).containsExactly(stored ? new ClaimResult.Claimed(1) : new ClaimResult.Busy());
        assertThat(late).hasValue(0);
    }

    @Test
    @DisplayName("C5 is not taken for proof that nothing was written if the store cannot be asked then")
    void unansweredClaim() {
        ClaimRequest claim = Claims.claim("key");
        late.set(1);
        lostReads.set(1);
        assertThatThrownBy(() -> store.claim(List.of(claim))).isInstanceOf(StoreOutcomeUnknown.class);
        assertThat(store.claim(List.of(claim))).containsExactly(new ClaimResult.Claimed(1));
    }

    @Test
    @DisplayName("R3 does not cost a settlement its answer")
    void settlement() {
        ClaimRequest claim = Claims.claim("key");
        witness.claim(List.of(claim));
        late.set(1);
        assertThat(store.settle(List.of(Claims.settle(claim, State.COMPLETED))))
                .singleElement()
                .isInstanceOf(SettleResult.Settled.class);
        assertThat(late).hasValue(0);
    }

    @Test
    @DisplayName("R3 nothing is denied of settlements that are committed if the server refuses to show them")
    void unshownSettlement() {
        ClaimRequest claim = Claims.claim("key");
        witness.claim(List.of(claim));
        refusedReads.set(1);
        assertThatThrownBy(() -> store.settle(List.of(Claims.settle(claim, State.COMPLETED))))
                .isInstanceOf(StoreOutcomeUnknown.class);
        assertThat(refusedReads).hasValue(0);
        assertThat(store.settle(List.of(Claims.settle(claim, State.COMPLETED))))
                .singleElement()
                .isInstanceOf(SettleResult.Settled.class);
    }

    private DataSource late(DataSource real) {
        return Sources.of(() -> {
            Connection connection = real.getConnection();
            return Sources.proxy(Connection.class, (self, method, arguments) -> {
                Object answer = Sources.invoke(connection, method, arguments);
                return method.getName().equals("prepareStatement") ? late((PreparedStatement) answer) : answer;
            });
        });
    }

    private PreparedStatement late(PreparedStatement statement) {
        return Sources.proxy(PreparedStatement.class, (self, method, arguments) -> {
            boolean reads = method.getName().equals("executeQuery");
            if (reads && late.get() == 0 && lostReads.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                throw new SQLException("the connection is lost", "08S01");
            }
            if (reads && refusedReads.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                throw new SQLException("User has exceeded the 'max_queries_per_hour' resource", "42000", 1226);
            }
            Object answer = Sources.invoke(statement, method, arguments);
            if (method.getName().equals("executeUpdate") && late.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                throw new SQLTimeoutException("the statement took too long");
            }
            return answer;
        });
    }
}
