package dev.onlyonce.prove;

import dev.onlyonce.prove.Arena.Disaster;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Makes things happen, one after the other on each of its two threads: to nodes, and to the store and the networks before it. */
final class Nemesis {
    private static final int GAP_MILLIS_MAX = 1_500;
    private static final int SHORT_GAP_MILLIS_MAX = 600;
    private static final int PAUSE_MILLIS_MIN = 500;

    private final History history;
    private final List<NodeProcess> nodes;
    private final List<Disaster> disasters;
    private final long seed;
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean stopped;

    /**
     * @param disasters of the store and the networks; with none, nodes are paused all the time and not killed
     */
    Nemesis(History history, List<NodeProcess> nodes, List<Disaster> disasters, long seed) {
        this.history = history;
        this.nodes = nodes;
        this.disasters = disasters;
        this.seed = seed;
    }

    void start() {
        Random one = new Random(seed);
        threads.add(start(ofNodes(one), one));
        if (!disasters.isEmpty()) {
            threads.add(start(disasters, new Random(seed + 1)));
        }
    }

    private List<Disaster> ofNodes(Random random) {
        return List.of(
                new Disaster("kill -9 of a node", disasters.isEmpty() ? 0 : 2, () -> {
                    NodeProcess node = any(random);
                    note("kills " + node.name());
                    node.kill();
                    node.start();
                }),
                new Disaster("a pause of a node", 3, () -> {
                    NodeProcess node = any(random);
                    int millis =
                            PAUSE_MILLIS_MIN + random.nextInt((int) Timing.PAUSE_MAX.toMillis() - PAUSE_MILLIS_MIN);
                    note("stops " + node.name() + " for " + millis + " ms");
                    node.signal("STOP");
                    Pause.millis(millis);
                    node.signal("CONT");
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
                Pause.millis(random.nextInt(disasters.isEmpty() ? SHORT_GAP_MILLIS_MAX : GAP_MILLIS_MAX));
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

    /** Ends everything, and returns when all nodes have come up again. */
    void stop(Arena arena) throws InterruptedException, IOException {
        stopped = true;
        for (Thread thread : threads) {
            thread.join();
        }
        arena.heal();
        note("everything is healed");
    }
}
