package dev.onlyonce.prove;

import dev.onlyonce.prove.Arena.Disaster;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Makes things happen, one after the other on each of its threads: to nodes, to the store and its networks, and to other networks. */
final class Nemesis {
    private static final int SHORT_GAP_MILLIS_MAX = 600;
    private static final int PAUSE_MILLIS_MIN = 500;
    private static final int LONG_PAUSE_MILLIS_MIN = 2_000;
    private static final int JUMP_MINUTES_MAX = 60;

    private final History history;
    private final List<NodeProcess> nodes;
    private final List<List<Disaster>> disasters;
    private final Focus focus;
    private final long seed;
    private final int gapMillisMax;
    /** Whether nodes themselves write the store. */
    private final boolean ownFile;

    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean stopped;

    /**
     * @param disasters of the store and its networks, and of what else there is; each kind has a thread of its own
     */
    Nemesis(History history, List<NodeProcess> nodes, List<List<Disaster>> disasters, Round.Plan plan) {
        this.history = history;
        this.nodes = nodes;
        this.focus = plan.aim().focus();
        this.disasters = switch (focus) {
            case ALL -> disasters;
            case PAUSES -> List.of();
            case FAILOVERS ->
                List.of(disasters.get(0).stream().filter(Disaster::once).reduce((earlier, last) -> last).stream()
                        .toList());
        };
        this.seed = plan.seed();
        this.ownFile = plan.store().equals("sqlite");
        this.gapMillisMax =
                focus == Focus.PAUSES ? SHORT_GAP_MILLIS_MAX : plan.aim().gapMillisMax();
    }

    void start() {
        Random one = new Random(seed);
        threads.add(start(ofNodes(one), one));
        for (int i = 0; i < disasters.size(); i++) {
            threads.add(start(disasters.get(i), new Random(seed + 10 + i)));
        }
    }

    private List<Disaster> ofNodes(Random random) {
        return List.of(
                new Disaster("kill -9 of a node", focus == Focus.ALL ? 2 : 0, () -> {
                    NodeProcess node = any(random);
                    note("kills " + node.name());
                    node.kill();
                    node.start();
                }),
                new Disaster("a pause of a node", 3, () -> {
                    NodeProcess node = any(random);
                    int min = focus == Focus.PAUSES ? LONG_PAUSE_MILLIS_MIN : PAUSE_MILLIS_MIN;
                    int millis = min + random.nextInt((int) Timing.PAUSE_MAX.toMillis() - min);
                    note("stops " + node.name() + " for " + millis + " ms");
                    node.signal("STOP");
                    Pause.millis(millis);
                    node.signal("CONT");
                }),
                new Disaster("failing writes of a node, as on a full disk", ownFile ? 2 : 0, () -> {
                    NodeProcess node = any(random);
                    note("lets writes of " + node.name() + " fail");
                    node.limitWrites(random.nextInt(3_000));
                }),
                new Disaster("a jump of a node's clock", focus == Focus.ALL ? 1 : 0, () -> {
                    NodeProcess node = any(random);
                    int minutes = random.nextInt(2 * JUMP_MINUTES_MAX) - JUMP_MINUTES_MAX;
                    note("sets the clock of " + node.name() + " by " + minutes + " minutes");
                    node.jump(minutes);
                }));
    }

    private NodeProcess any(Random random) {
        return nodes.get(random.nextInt(nodes.size()));
    }

    private void note(String what) {
        history.fault(what);
    }

    private Thread start(List<Disaster> these, Random random) {
        List<Disaster> left = new ArrayList<>();
        these.forEach(disaster -> {
            for (int i = 0; i < disaster.weight(); i++) {
                left.add(disaster);
            }
        });
        Thread thread = new Thread(() -> {
            while (!stopped) {
                Pause.millis(random.nextInt(gapMillisMax));
                if (left.isEmpty()) {
                    return;
                }
                Disaster disaster = left.get(random.nextInt(left.size()));
                if (disaster.once()) {
                    left.removeIf(Disaster::once);
                }
                happen(disaster);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private void happen(Disaster disaster) {
        note(disaster.name());
        try {
            disaster.run().run();
            note("over: " + disaster.name());
        } catch (Exception e) {
            note("failed: " + disaster.name() + ": " + e);
        }
    }

    /** Ends everything. */
    void stop(Runnable heal) throws InterruptedException {
        stopped = true;
        for (Thread thread : threads) {
            thread.join();
        }
        heal.run();
        note("everything is healed");
    }
}
