package dev.onlyonce.prove;

import dev.onlyonce.prove.Arena.Disaster;
import dev.onlyonce.testservers.ScriptedNetwork;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/** A network between each node and a server, with faults. */
final class Networks implements AutoCloseable {
    static final int STORE_MILLIS_MAX = 3_000;
    /** They know URLs of JDBC only. */
    private static final String ANY = "jdbc:postgresql://127.0.0.1:";

    private final List<ScriptedNetwork> networks;
    private final Random random;
    private final String server;
    private final String url;

    /**
     * @param server what it is called
     * @param url of the server, with {@code jdbc:} before it
     */
    Networks(String server, String url, int nodes, Random random) {
        this.server = server;
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

    /** Those of a server on a port of this machine. */
    static Networks toPort(String server, int port, int nodes, Random random) {
        return new Networks(server, ANY + port + "/x", nodes, random);
    }

    /** The port of a server on this machine by way of the network of a node. */
    int port(int node) {
        return Integer.parseInt(url(node).replaceAll(".*:(\\d+)/.*", "$1"));
    }

    /** What may happen to them, for at most so long. */
    List<Disaster> disasters(int millisMax) {
        List<Disaster> all = new ArrayList<>();
        String ofOne = " of one node to " + server;
        all.add(new Disaster("cut the connections" + ofOne, 2, () -> any().cut()));
        all.add(new Disaster(
                "cut the connection before an answer" + ofOne, 4, () -> any().cutBeforeAnswer(1 + random.nextInt(20))));
        all.add(new Disaster("freeze the network" + ofOne, 2, () -> {
            ScriptedNetwork network = any();
            network.freeze();
            Pause.millis(random.nextInt(millisMax));
            network.heal();
        }));
        all.add(new Disaster("take the network down" + ofOne, 1, () -> {
            ScriptedNetwork network = any();
            network.down();
            Pause.millis(random.nextInt(millisMax));
            network.heal();
        }));
        all.add(new Disaster("slow the network down" + ofOne, 1, () -> {
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
