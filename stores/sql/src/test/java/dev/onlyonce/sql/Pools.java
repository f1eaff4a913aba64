package dev.onlyonce.sql;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

/** Connection pools as applications have them. */
public final class Pools {
    private Pools() {}

    public static HikariDataSource open(String jdbcUrl, int connectionsMax) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(jdbcUrl);
        config.setMaximumPoolSize(connectionsMax);
        config.setMinimumIdle(0);
        config.setConnectionTimeout(20_000);
        return new HikariDataSource(config);
    }
}
