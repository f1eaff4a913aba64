package dev.onlyonce.prove;

import dev.onlyonce.prove.Arena.Disaster;
import dev.onlyonce.testservers.ScriptedNetwork;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/** A network between each node and the server of its store, with faults. */
final class Networks implements AutoCloseable {
    private final List<ScriptedNetwork> networks;
    private final Random random;
    private final String url;

    /**
     * @param url of the server, with {@code jdbc:} before it
     */
    Networks(String url, int nodes, Random random) {
        this.url = url;
        this.random = random;
        networks =
                IntStream.range(0, nodes).mapToObj(i -> ScriptedNetwork.to(url)).toList();
    }

    String url(int node) {
        return networks.get(node).through(url);
    }

    private ScriptedNetwork any() {
        return networks.get(random.nextInt(networks.size()));
    }

    List<Disaster> disasters() {
        List<Disaster> all = new ArrayList<>();
        all.add(new Disaster("cut the connections of one node", 2, () -> any().cut()));
        all.add(new Disaster(
                "cut one node before an answer of the store", 4, () -> any().cutBeforeAnswer(1 + random.nextInt(20))));
        all.add(new Disaster("freeze the network of one node", 2, () -> {
            ScriptedNetwork network = any();
            network.freeze();
            Pause.millis(random.nextInt(3_000));
            network.heal();
        }));
        all.add(new Disaster("take the network of one node down", 1, () -> {
            ScriptedNetwork network = any();
            network.down();
            Pause.millis(random.nextInt(2_000));
            network.heal();
        }));
        all.add(new Disaster("slow the network of one node down", 1, () -> {
            ScriptedNetwork network = any();
            network.delay(Duration.ofMillis(random.nextInt(300)));
            Pause.millis(1_000);
            network.heal();
        }));
        return all;
    }

    void heal() {
        networks.forEach(ScriptedNetwork::heal);
    }

    @Override
    public void close() {
        networks.forEach(ScriptedNetwork::close);
    }
}
