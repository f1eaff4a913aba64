package dev.onlyonce.prove;

import dev.onlyonce.testservers.SqliteFile;
import java.util.List;

/** One SQLite file that all nodes share. Only nodes can fail. */
final class SqliteArena implements Arena {
    private final String url;

    SqliteArena(Setting setting) {
        url = SqliteFile.in(setting.folder()).jdbcUrl();
        try (StoreAccess created = StoreAccess.open(url)) {
            SqlFaults.run(created.url(), Ways.CREATE);
        }
    }

    @Override
    public String name() {
        return "sqlite";
    }

    @Override
    public boolean isSql() {
        return true;
    }

    @Override
    public String url(int node) {
        return url;
    }

    @Override
    public String directUrl() {
        return url;
    }

    @Override
    public List<Disaster> disasters() {
        return List.of();
    }

    @Override
    public void heal() {
        // Nothing of it fails.
    }

    @Override
    public void close() {
        // The file goes with its folder.
    }
}
