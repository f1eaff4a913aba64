package dev.onlyonce.prove;

import dev.onlyonce.testservers.DatabaseServer;
import dev.onlyonce.testservers.MariaDbServer;
import dev.onlyonce.testservers.MySqlServer;
import dev.onlyonce.testservers.PostgresServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** One database server: PostgreSQL, MySQL or MariaDB. */
final class DatabaseArena implements Arena {
    private static final String TIMEOUTS = "&socketTimeout=4000&connectTimeout=2000";

    private final String name;
    private final DatabaseServer server;
    private final String url;
    private final SqlFaults faults;
    private final Networks networks;
    private final ServerProcesses processes;
    private final Random random;

    private DatabaseArena(String name, DatabaseServer server, String url, SqlFaults faults, Setting setting) {
        this.name = name;
        this.server = server;
        this.url = url;
        this.faults = faults;
        random = new Random(setting.seed());
        networks = new Networks("the store", url, setting.nodes(), random);
        processes = new ServerProcesses(url.replaceAll(".*:(\\d+)/.*", "$1"));
        if (!SqlFaults.run(url, Ways.CREATE)) {
            throw new IllegalStateException("the database does not answer: " + url);
        }
    }

    static DatabaseArena postgres(Setting setting) {
        DatabaseServer server = PostgresServer.start("fsync=off", "full_page_writes=off", "max_connections=80");
        String url = server.jdbcUrl("postgres") + "&socketTimeout=4&connectTimeout=2";
        return new DatabaseArena("postgres", server, url, SqlFaults.POSTGRES, setting);
    }

    static DatabaseArena mysql(Setting setting) {
        DatabaseServer server = MySqlServer.start("max-connections=80");
        return new DatabaseArena("mysql", server, server.createDatabase() + TIMEOUTS, SqlFaults.MYSQL, setting);
    }

    static DatabaseArena mariaDb(Setting setting) {
        DatabaseServer server = MariaDbServer.start("max-connections=80");
        return new DatabaseArena("mariadb", server, server.createDatabase() + TIMEOUTS, SqlFaults.MYSQL, setting);
    }

    @Override
    public String name() {
        return name;
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
        List<Disaster> all = new ArrayList<>(networks.disasters(Networks.STORE_MILLIS_MAX));
        all.add(new Disaster("kill the database and start it again", 1, () -> {
            server.kill();
            Pause.millis(random.nextInt(1_500));
            server.restart();
        }));
        all.add(new Disaster("restart the database", 1, server::restart));
        all.add(new Disaster("stop the database's processes for a while", 1, () -> {
            processes.freeze();
            Pause.millis(random.nextInt(4_000));
            processes.thaw();
        }));
        all.add(new Disaster("let the database's writes fail for a while, as on a full disk", 1, () -> {
            processes.failWrites();
            Pause.millis(random.nextInt(2_000));
            processes.healWrites();
            if (!SqlFaults.run(url, "SELECT 1")) {
                server.restart();
            }
        }));
        all.add(new Disaster("cancel what the database is doing", 2, () -> SqlFaults.runEach(url, faults.cancel())));
        all.add(new Disaster("end the sessions of the database", 2, () -> SqlFaults.runEach(url, faults.terminate())));
        all.add(new Disaster("upgrade the schema, and take it back", 1, () -> SqlFaults.upgrade(url)));
        all.add(new Disaster("use up the connections of the database", 1, () -> SqlFaults.exhaust(url)));
        all.add(new Disaster(
                "let commits be forgotten for a while (" + faults.unsafe().get(0) + ")", 1, () -> {
                    faults.unsafe().forEach(sql -> SqlFaults.run(url, sql));
                    Pause.millis(2_000);
                    faults.safe().forEach(sql -> SqlFaults.run(url, sql));
                }));
        return all;
    }

    @Override
    public void heal() {
        networks.heal();
        server.restart();
        for (String sql : faults.safe()) {
            if (!SqlFaults.run(url, sql)) {
                throw new IllegalStateException("the server does not answer after it was healed");
            }
        }
    }

    @Override
    public void close() {
        networks.close();
        server.close();
    }
}
