package dev.onlyonce.sql;

import org.junit.jupiter.api.DisplayName;

@DisplayName("Steps on PostgreSQL")
final class PostgresSteppedTest extends SteppedContract {
    PostgresSteppedTest() {
        super(TestDatabase.POSTGRES);
    }
}
