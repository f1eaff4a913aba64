package dev.onlyonce.sql.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.sql.Claims;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.TestDatabase;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.Transition;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("A check of entries by the database")
final class EntryChecksTest {
    @TempDir
    private Path folder;

    @Test
    @DisplayName("has none on PostgreSQL: they would be parsed again for each claim and each settlement")
    void unchecked() {
        try (HikariDataSource dataSource = TestDatabase.POSTGRES.create(folder)) {
            SqlStore.open(dataSource).close();
            assertThat(SqlClock.number(
                            dataSource,
                            "SELECT count(*) FROM pg_constraint WHERE contype = 'c'"
                                    + " AND conrelid = 'onlyonce_entry'::regclass"))
                    .isZero();
        }
    }

    @Test
    @DisplayName("has none on PostgreSQL: what cannot be read is not executed, and costs no other entry")
    void unreadable() {
        try (HikariDataSource dataSource = TestDatabase.POSTGRES.create(folder);
                SqlStore store = SqlStore.open(dataSource)) {
            ClaimRequest wrong = Claims.claim("wrong");
            ClaimRequest good = Claims.claim("good");
            store.claim(List.of(wrong, good));
            for (int state : List.of(0, 8, 99)) {
                SqlClock.execute(dataSource, "UPDATE onlyonce_entry SET state = " + state + " WHERE key_ = 'wrong'");
                for (ClaimRequest claim : List.of(wrong, Claims.claim("wrong"))) {
                    assertThatThrownBy(() -> store.claim(List.of(claim)))
                            .isInstanceOf(IllegalArgumentException.class)
                            .hasMessageContaining(wrong.id().toString())
                            .hasMessageContaining("unknown state code " + state);
                }
                assertThatThrownBy(() -> store.find(List.of(wrong.id()))).hasMessageContaining("state code " + state);
                assertThatThrownBy(() -> store.settle(List.of(Claims.settle(wrong, State.COMPLETED))))
                        .hasMessageContaining("state code " + state);
                assertThat(SqlClock.number(dataSource, "SELECT state FROM onlyonce_entry WHERE key_ = 'wrong'"))
                        .isEqualTo(state);
            }
            SqlClock.execute(
                    dataSource,
                    "UPDATE onlyonce_entry SET state = 2, on_lease_lost = 9 WHERE key_ = 'wrong'",
                    "UPDATE onlyonce_entry SET lease_until = 1");
            assertThat(store.sweep(10))
                    .as("an unknown policy is no permission to repeat")
                    .extracting(Transition::to)
                    .containsExactly(State.UNKNOWN, State.UNKNOWN);
            assertThat(store.find(List.of(good.id())).get(0)).isPresent();
        }
    }

    @Test
    @DisplayName("T3 D11 what a purge cannot read is left alone and looked at later; the others are removed")
    void unreadablePurge() {
        try (HikariDataSource dataSource = TestDatabase.POSTGRES.create(folder);
                SqlStore store = SqlStore.open(dataSource)) {
            List<ClaimRequest> claims = Claims.claims("key", 3);
            store.claim(claims);
            store.settle(Claims.complete(claims));
            SqlClock.execute(
                    dataSource,
                    "UPDATE onlyonce_entry SET expires_at = 1, purge_at = 1, reap_at = 1 WHERE fingerprint_version > 0",
                    "UPDATE onlyonce_entry SET state = 99, reap_at = 0 WHERE key_ = 'key0'");
            assertThat(store.purge(2)).isEqualTo(2);
            assertThat(SqlClock.number(
                            dataSource,
                            "SELECT count(*) FROM onlyonce_entry WHERE state = 99 AND reap_at > created_at"))
                    .isEqualTo(1);
            assertThat(store.purge(2)).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("is not needed for names that are too long: the store refuses it before it asks the database")
    void longNames(TestDatabase database) {
        try (HikariDataSource dataSource = database.create(folder);
                SqlStore store = SqlStore.open(dataSource)) {
            String name = "x".repeat(256);
            for (EntryId id : List.of(
                    new EntryId(name, "", "key"),
                    new EntryId("tenant", name, "key"),
                    new EntryId("tenant", "", name))) {
                assertThatThrownBy(() -> store.claim(List.of(claim(id, "POST /payments"))))
                        .isInstanceOf(StoreRejected.class)
                        .hasMessageContaining("256 characters");
            }
            assertThatThrownBy(() -> store.claim(List.of(claim(new EntryId("tenant", "", "key"), name))))
                    .isInstanceOf(StoreRejected.class)
                    .hasMessageContaining("256 characters");
            assertThat(SqlClock.number(dataSource, "SELECT count(*) FROM onlyonce_entry WHERE fingerprint_version > 0"))
                    .isZero();
        }
    }

    private static ClaimRequest claim(EntryId id, String operation) {
        ClaimRequest claim = Claims.claim("key");
        return new ClaimRequest(
                id, operation, claim.fingerprint(), claim.token(), claim.owner(), claim.terms(), claim.start());
    }
}
