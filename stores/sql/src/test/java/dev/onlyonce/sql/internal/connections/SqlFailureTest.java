package dev.onlyonce.sql.internal.connections;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreUnavailable;
import java.sql.SQLException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("An SQL error")
final class SqlFailureTest {

    @ParameterizedTest(name = "{0} {1} {2} is {3}")
    @CsvSource({
        "POSTGRESQL, 40001, 0, CONFLICT",
        "POSTGRESQL, 40P01, 0, CONFLICT",
        "POSTGRESQL, 40003, 0, ANSWER_LOST",
        "POSTGRESQL, 08006, 0, ANSWER_LOST",
        "POSTGRESQL, 08003, 0, ANSWER_LOST",
        "POSTGRESQL, 57P01, 0, ANSWER_LOST",
        "POSTGRESQL, 57P03, 0, ANSWER_LOST",
        "POSTGRESQL, 55P03, 0, BUSY",
        "POSTGRESQL, 57014, 0, UNAVAILABLE",
        "POSTGRESQL, 25006, 0, UNAVAILABLE",
        "POSTGRESQL, 53100, 0, UNAVAILABLE",
        "POSTGRESQL, 42P01, 0, REJECTED",
        "POSTGRESQL, 42501, 0, REJECTED",
        "POSTGRESQL, 22021, 0, REJECTED",
        "POSTGRESQL, 23502, 0, REJECTED",
        "POSTGRESQL, 26000, 0, STALE",
        "POSTGRESQL, 34000, 0, STALE",
        "POSTGRESQL, 42P05, 0, STALE",
        "POSTGRESQL, 0A000, 0, STALE",
        "POSTGRESQL, 25P03, 0, ANSWER_LOST",
        "POSTGRESQL, 25P04, 0, ANSWER_LOST",
        "POSTGRESQL, 57P05, 0, ANSWER_LOST",
        "POSTGRESQL, 25P02, 0, UNAVAILABLE",
        "POSTGRESQL, P0001, 0, REJECTED",
        "POSTGRESQL, U1234, 0, REJECTED",
        "POSTGRESQL, 99999, 0, ANSWER_LOST",
        "POSTGRESQL, , 0, ANSWER_LOST",
        "MYSQL, 40001, 1213, CONFLICT",
        "MYSQL, HY000, 1020, CONFLICT",
        "MYSQL, HY000, 1205, BUSY",
        "MYSQL, 70100, 1969, BUSY",
        "MYSQL, HY000, 1290, UNAVAILABLE",
        "MYSQL, HY000, 1021, UNAVAILABLE",
        "MYSQL, 08004, 1040, UNAVAILABLE",
        "MYSQL, HY000, 1836, UNAVAILABLE",
        "MYSQL, 42000, 1461, UNAVAILABLE",
        "MYSQL, HY000, 1243, STALE",
        "MYSQL, HY000, 1615, STALE",
        "MYSQL, HY000, 1412, STALE",
        "MYSQL, HY000, 3572, BUSY",
        "MYSQL, 45000, 1644, REJECTED",
        "MYSQL, S1000, 0, ANSWER_LOST",
        "MYSQL, 08S01, 1153, REJECTED",
        "MYSQL, 22001, 1406, REJECTED",
        "MYSQL, 42S02, 1146, REJECTED",
        "MYSQL, 08S01, 0, ANSWER_LOST",
        "MYSQL, 70100, 1927, ANSWER_LOST",
        "SQLITE, , 5, LOCKED",
        "SQLITE, , 6, LOCKED",
        "SQLITE, , 517, CONFLICT",
        "SQLITE, , 13, UNAVAILABLE",
        "SQLITE, , 8, UNAVAILABLE",
        "SQLITE, , 1, REJECTED",
        "SQLITE, , 19, REJECTED",
        "SQLITE, , 10, ANSWER_LOST",
        "H2, 40001, 40001, CONFLICT",
        "H2, 90131, 90131, CONFLICT",
        "H2, HYT00, 50200, BUSY",
        "H2, 90020, 90020, UNAVAILABLE",
        "H2, 90097, 90097, UNAVAILABLE",
        "H2, 57014, 57014, UNAVAILABLE",
        "H2, 23505, 23505, REJECTED",
        "H2, 22001, 22001, REJECTED",
        "H2, 42S02, 42102, REJECTED",
        "H2, 90040, 90040, REJECTED",
        "H2, 90067, 90067, ANSWER_LOST",
        "H2, 90098, 90098, ANSWER_LOST",
        "H2, 90028, 90028, ANSWER_LOST",
        "H2, HY000, 50000, ANSWER_LOST",
        "H2, 08000, 0, ANSWER_LOST",
        "H2, , 0, ANSWER_LOST",
    })
    @DisplayName("is judged by its state and code")
    void judged(SqlDatabase database, String state, int code, SqlFailure failure) {
        assertThat(SqlFailure.of(database, new SQLException("text says nothing", state, code)))
                .isEqualTo(failure);
    }

    @Test
    @DisplayName("leaves the outcome unknown only if something could have been written")
    void writing() {
        assertThat(SqlFailure.ANSWER_LOST.exception(true, null)).isInstanceOf(StoreOutcomeUnknown.class);
        assertThat(SqlFailure.ANSWER_LOST.exception(false, null)).isInstanceOf(StoreUnavailable.class);
        assertThat(SqlFailure.UNAVAILABLE.exception(true, null)).isInstanceOf(StoreUnavailable.class);
        assertThat(SqlFailure.LOCKED.exception(true, null)).isInstanceOf(StoreUnavailable.class);
        assertThat(SqlFailure.BUSY.exception(true, null)).isInstanceOf(StoreBusy.class);
        assertThat(SqlFailure.CONFLICT.exception(true, null)).isInstanceOf(StoreBusy.class);
        assertThat(SqlFailure.STALE.exception(true, null)).isInstanceOf(StoreUnavailable.class);
        assertThat(SqlFailure.REJECTED.exception(true, null)).isInstanceOf(StoreRejected.class);
    }
}
