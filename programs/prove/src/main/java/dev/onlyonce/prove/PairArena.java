package dev.onlyonce.prove;

import static dev.onlyonce.prove.Seen.Fault.FAILOVER;

import dev.onlyonce.testservers.PostgresPair;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** PostgreSQL with a synchronous standby, which takes over once in a round, in one way or another. */
final class PairArena implements Arena {
    private static final String WAITERS =
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";

    private final PostgresPair pair = PostgresPair.start();
    private final String primary = pair.primary().jdbcUrl("postgres");
    private final String standby = pair.standby().jdbcUrl("postgres");
    private final Networks toPrimary;
    private final Networks toStandby;
    private final Random random;
    private final boolean synchronous;
    private volatile boolean cut;
    private volatile boolean failedOver;

    /**
     * Starts both servers.
     *
     * @param synchronous whether commits wait for the standby
     */
    PairArena(Setting setting, boolean synchronous) {
        this.synchronous = synchronous;
        random = new Random(setting.seed());
        toPrimary = new Networks("the primary", primary, setting.nodes(), random);
        toStandby = new Networks("the standby", standby, setting.nodes(), random);
        SqlFaults.run(primary, Ways.CREATE);
        if (!synchronous) {
            SqlFaults.run(primary, "ALTER SYSTEM SET synchronous_standby_names = ''");
            SqlFaults.run(primary, "SELECT pg_reload_conf()");
        }
    }

    @Override
    public String name() {
        return synchronous ? "postgres-standby" : "postgres-asynchronous";
    }

    @Override
    public boolean isSql() {
        return true;
    }

    @Override
    public String url(int node) {
        return both(toPrimary.url(node), toStandby.url(node));
    }

    @Override
    public String directUrl() {
        return both(primary, standby);
    }

    private static String both(String one, String other) {
        String host = other.replaceAll(".*//([^/]*)/.*", "$1");
        return one.replaceFirst("//([^/]*)/", "//$1," + host + "/")
                + "&targetServerType=primary&socketTimeout=2&connectTimeout=2";
    }

    @Override
    public List<Disaster> disasters() {
        List<Disaster> all = new ArrayList<>(toPrimary.disasters(Networks.STORE_MILLIS_MAX));
        all.add(new Disaster(
                "end the sessions of the primary",
                1,
                () -> SqlFaults.runEach(primary, SqlFaults.POSTGRES.terminate())));
        all.add(new Disaster(
                "cancel what the primary is doing", 1, () -> SqlFaults.runEach(primary, SqlFaults.POSTGRES.cancel())));
        all.add(new Disaster("upgrade the schema, and take it back", 1, () -> SqlFaults.upgrade(directUrl())));
        all.add(new Disaster("use up the connections of the primary", 1, () -> SqlFaults.exhaust(primary)));
        if (!synchronous) {
            all.add(new Disaster("let the standby lag, kill the primary, " + FAILOVER, 3, true, this::lagged));
            return all;
        }
        all.add(new Disaster("take the standby away for a while", 1, this::standbyAway));
        all.add(new Disaster("kill the primary, " + FAILOVER, 3, true, this::failOver));
        all.add(new Disaster("promote the standby while the primary lives, " + FAILOVER, 3, true, this::splitBrain));
        all.add(new Disaster(
                "take the standby away, end the commits that wait for it, " + FAILOVER, 3, true, this::lostTail));
        return all;
    }

    private synchronized void standbyAway() {
        if (!failedOver) {
            pair.cutOff();
            cut = true;
            Pause.millis(500 + random.nextInt(2_000));
            if (random.nextBoolean()) {
                SqlFaults.run(primary, WAITERS);
                Pause.millis(500);
            }
            pair.rejoin();
            cut = false;
        }
    }

    @Override
    public boolean mayForget() {
        return !synchronous;
    }

    private synchronized void lagged() {
        if (!failedOver) {
            failedOver = true;
            pair.cutOff();
            Pause.millis(1_000);
            pair.failOver();
        }
    }

    private synchronized void failOver() {
        if (!failedOver) {
            failedOver = true;
            pair.failOver();
        }
    }

    private synchronized void splitBrain() {
        if (!failedOver) {
            failedOver = true;
            SqlFaults.run(standby, "SELECT pg_promote()");
            Pause.millis(1_000 + random.nextInt(2_000));
            SqlFaults.run(primary, WAITERS);
            Pause.millis(random.nextInt(2_000));
            pair.primary().kill();
        }
    }

    private synchronized void lostTail() {
        if (!failedOver) {
            failedOver = true;
            pair.cutOff();
            // Long enough for nodes of a slow machine to come back and look what became of their commits.
            for (int i = 0; i < 4; i++) {
                Pause.millis(1_000);
                SqlFaults.run(primary, WAITERS);
            }
            pair.failOver();
        }
    }

    @Override
    public synchronized void heal() {
        toPrimary.heal();
        toStandby.heal();
        if (cut && !failedOver) {
            pair.rejoin();
            cut = false;
        }
    }

    @Override
    public void close() {
        toPrimary.close();
        toStandby.close();
        pair.close();
    }
}
