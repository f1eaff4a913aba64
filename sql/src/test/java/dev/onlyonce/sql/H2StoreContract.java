package dev.onlyonce.sql;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.store.Store;
import dev.onlyonce.testkit.StoreContract;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.jspecify.annotations.Nullable;

/** The store's contract on H2: in a file or in memory, in one of its modes. */
abstract class H2StoreContract extends StoreContract {
    static final String REGULAR = ";MODE=REGULAR";
    static final String POSTGRESQL = ";MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE;DEFAULT_NULL_ORDERING=HIGH";

    @TempDir
    private Path folder;

    private final boolean file;
    private final String mode;
    private @Nullable HikariDataSource dataSource;
    private @Nullable SqlClock clock;

    H2StoreContract(boolean file, String mode) {
        this.file = file;
        this.mode = mode;
    }

    @AfterEach
    final void disconnect() {
        if (dataSource != null) {
            dataSource.close();
        }
    }

    @Override
    protected final Store open() {
        if (dataSource == null) {
            String place = file ? "file:" + folder.resolve("entries") : "mem:" + UUID.randomUUID();
            dataSource = Pools.open("jdbc:h2:" + place + ";DB_CLOSE_DELAY=5" + mode, 70);
            clock = SqlClock.start(dataSource);
        }
        return SqlClock.store(dataSource).build();
    }

    @Override
    protected final void advance(Duration span) {
        clock.advance(span);
    }
}
