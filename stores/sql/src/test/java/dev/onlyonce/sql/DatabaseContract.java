package dev.onlyonce.sql;

import com.zaxxer.hikari.HikariDataSource;
import java.nio.file.Path;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** What holds on every database. All tests of a class share the instance and one new database. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class DatabaseContract {
    private final TestDatabase database;
    private HikariDataSource dataSource;

    protected DatabaseContract(TestDatabase database) {
        this.database = database;
    }

    @BeforeAll
    public final void connect(@TempDir Path folder) {
        dataSource = Pools.open(database.url(folder), 20);
    }

    @AfterAll
    public final void disconnect() {
        dataSource.close();
    }

    public final DataSource dataSource() {
        return dataSource;
    }
}
