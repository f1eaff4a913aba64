package dev.onlyonce.sql;

import dev.onlyonce.store.Store;
import dev.onlyonce.testkit.StoreContract;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.io.TempDir;
import org.sqlite.SQLiteDataSource;

@Order(1)
@DisplayName("SQLite")
final class SqliteStoreTest extends StoreContract {
    @TempDir
    private Path folder;

    private SqlClock clock;

    @Override
    protected Store open() {
        Path file = folder.resolve("entries.db");
        if (clock == null) {
            SqlStore.sqlite(file).close();
            SQLiteDataSource dataSource = new SQLiteDataSource();
            dataSource.setUrl("jdbc:sqlite:" + file);
            clock = SqlClock.start(dataSource);
        }
        return SqlStore.builder(file).clock(SqlClock.SQL).build();
    }

    @Override
    protected void advance(Duration span) {
        clock.advance(span);
    }
}
