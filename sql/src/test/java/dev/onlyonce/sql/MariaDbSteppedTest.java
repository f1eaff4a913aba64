package dev.onlyonce.sql;

import org.junit.jupiter.api.DisplayName;

@DisplayName("Steps on MariaDB, or MySQL at a URL from outside")
final class MariaDbSteppedTest extends SteppedContract {
    MariaDbSteppedTest() {
        super(TestDatabase.MARIADB);
    }
}
