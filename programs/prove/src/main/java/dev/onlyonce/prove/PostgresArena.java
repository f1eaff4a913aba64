package dev.onlyonce.prove;

import dev.onlyonce.testservers.DatabaseServer;
import dev.onlyonce.testservers.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** One PostgreSQL server. */
final class PostgresArena implements Arena {
    private final DatabaseServer server =
            PostgresServer.start("fsync=off", "full_page_writes=off", "max_connections=80");
    private final String url = server.jdbcUrl("postgres") + "&socketTimeout=4&connectTimeout=2";
    private final Networks networks;
    private final Random random;

    PostgresArena(int nodes, long seed) {
        random = new Random(seed);
        networks = new Networks(url, nodes, random);
        sql(Ways.CREATE);
    }

    @Override
    public String name() {
        return "postgres";
    }

    @Override
    public boolean isSql() {
        return true;
    }

    @Override
    public String url(int node) {
        return networks.url(node);
    }

    @Override
    public String directUrl() {
        return url;
    }

    @Override
    public List<Disaster> disasters() {
        List<Disaster> all = new ArrayList<>(networks.disasters());
        all.add(new Disaster("kill the database and start it again", 1, () -> {
            server.kill();
            Pause.millis(random.nextInt(1_500));
            server.restart();
        }));
        all.add(new Disaster("restart the database", 1, server::restart));
        all.add(new Disaster("cancel what the database is doing", 2, () -> sql(SqlFaults.CANCEL)));
        all.add(new Disaster("end the sessions of the database", 2, () -> sql(SqlFaults.TERMINATE)));
        all.add(new Disaster("use up the connections of the database", 1, () -> SqlFaults.exhaust(url)));
        all.add(new Disaster("let commits of new sessions be forgotten for a while (synchronous_commit=off)", 1, () -> {
            sql("ALTER SYSTEM SET synchronous_commit = off");
            sql("SELECT pg_reload_conf()");
            Pause.millis(2_000);
            sql("ALTER SYSTEM RESET synchronous_commit");
            sql("SELECT pg_reload_conf()");
        }));
        return all;
    }

    private void sql(String statement) {
        SqlFaults.run(url, statement);
    }

    @Override
    public void heal() {
        networks.heal();
        server.restart();
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute("ALTER SYSTEM RESET synchronous_commit");
            statement.execute("SELECT pg_reload_conf()");
        } catch (SQLException e) {
            throw new IllegalStateException("the server does not answer after it was healed", e);
        }
    }

    @Override
    public void close() {
        networks.close();
        server.close();
    }
}
