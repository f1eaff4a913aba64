package dev.onlyonce.cassandra;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.loadbalancing.NodeDistance;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.metadata.schema.KeyspaceMetadata;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreRefused;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreUnavailable;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The keyspace and its tables. */
record Schema(CqlSession session, String keyspace) {
    /** Of the tables; stored in the layout. */
    static final int VERSION = 1;

    /** All nodes agree upon a definition before it is answered, which takes seconds where they are busy. */
    private static final Duration DEFINE_MAX = Duration.ofMinutes(1);

    /** The driver waits for ten seconds each time. */
    private static final int AGREEMENT_WAITS_MAX = 5;

    /** Each takes up to the driver's time-out. */
    private static final int RECORD_TRIES_MAX = 5;

    private static final CqlIdentifier DEFAULT_TTL = CqlIdentifier.fromInternal("default_time_to_live");
    private static final String LAYOUT = "layout";
    private static final List<String> TABLES = List.of("entry", "due", "bucket", "listed", LAYOUT);

    /**
     * Creates what is missing.
     *
     * @param dataCentre where the entries are; null for that of the nodes
     * @param replication on how many of its nodes
     * @param mark marks the table of entries. It is run before the last table is there, so that one who dies or fails before leaves it to the
     *     next one
     */
    void create(@Nullable String dataCentre, int replication, Runnable mark) {
        try {
            if (metadata().isEmpty()) {
                String home = dataCentre == null ? onlyDataCentre() : dataCentre;
                checkNodes(home, replication);
                define("CREATE KEYSPACE IF NOT EXISTS " + keyspace
                        + " WITH replication = {'class': 'NetworkTopologyStrategy', '" + home.replace("'", "''") + "': "
                        + replication + "}");
            }
            session.execute("USE " + keyspace);
            List<String> missing = missing();
            if (missing.isEmpty()) {
                return;
            }
            List<String> statements = statements().toList();
            statements.subList(0, statements.size() - 1).forEach(this::define);
            // The last of the tables: with it, the others have had entries.
            if (missing.contains(LAYOUT)) {
                mark.run();
            }
            define(statements.get(statements.size() - 1));
        } catch (RuntimeException e) {
            throw failed("cannot be created: ", e);
        }
    }

    /** Returns when all nodes know the definition, or have taken too long: the next statement may meet one that does not. */
    private void define(String statement) {
        boolean isAgreed = session.execute(
                        SimpleStatement.newInstance(statement).setTimeout(DEFINE_MAX))
                .getExecutionInfo()
                .isSchemaInAgreement();
        for (int waits = 0; waits < AGREEMENT_WAITS_MAX && !isAgreed; waits++) {
            isAgreed = session.checkSchemaAgreement();
        }
    }

    /** With fewer nodes than replicas no majority may ever answer, and the keyspace would stay so. */
    private void checkNodes(String dataCentre, int replication) {
        long nodes = session.getMetadata().getNodes().values().stream()
                .filter(node -> dataCentre.equals(node.getDatacenter()))
                .count();
        if (nodes < replication) {
            throw new StoreRejected(
                    "The data centre " + dataCentre + " has " + nodes + " nodes, too few for " + replication
                            + " replicas: add nodes, or write replication=" + nodes
                            + " after the ? of the URL to create the keyspace",
                    null);
        }
    }

    private String onlyDataCentre() {
        List<String> found = session.getMetadata().getNodes().values().stream()
                .map(Node::getDatacenter)
                .filter(Objects::nonNull)
                .distinct()
                .toList();
        if (found.size() != 1) {
            throw new StoreRejected(
                    "The cluster has the data centres " + String.join(", ", found)
                            + ": say with dc= where the keyspace is to be created",
                    null);
        }
        return found.get(0);
    }

    /**
     * Checks that all is there, and that it keeps what it is given.
     *
     * @throws StoreException with what to do if not
     */
    void check() {
        checkDefinitions();
        try {
            session.execute("USE " + keyspace);
        } catch (RuntimeException e) {
            throw failed("cannot be used: ", e);
        }
    }

    /** Checks what the driver knows of the keyspace. */
    void checkDefinitions() {
        if (!missing().isEmpty()) {
            // The driver does not look at what was created before all nodes agreed upon it, by us or by another
            // process.
            refresh();
        }
        if (metadata().isEmpty()) {
            throw new StoreRejected(
                    "Cassandra has no keyspace " + keyspace + ": create it with \"onlyonce schema apply --db URL\"",
                    null);
        }
        List<String> missing = missing();
        if (!missing.isEmpty()) {
            throw new StoreRejected(
                    "The keyspace " + keyspace + " has no table " + String.join(", ", missing)
                            + ": create them with \"onlyonce schema apply --db URL\"",
                    null);
        }
        if (metadata().filter(KeyspaceMetadata::isDurableWrites).isEmpty()) {
            throw new StoreRefused(
                    "Cassandra may lose entries, and then operations run again: set durable_writes = true for the keyspace "
                            + keyspace,
                    null);
        }
        checkKeeping();
    }

    /** A claim whose index rows vanish is never swept, and a layout that vanishes lets nodes order transactions differently. */
    private void checkKeeping() {
        for (String table : TABLES) {
            boolean forgets = metadata()
                    .flatMap(each -> each.getTable(table))
                    .map(each -> each.getOptions().get(DEFAULT_TTL))
                    .filter(ttl -> !ttl.equals(0))
                    .isPresent();
            if (forgets) {
                throw new StoreRefused(
                        "Cassandra forgets what nobody has deleted: ALTER TABLE " + keyspace + "." + table
                                + " WITH default_time_to_live = 0",
                        null);
            }
        }
    }

    private void refresh() {
        try {
            session.refreshSchema();
        } catch (RuntimeException e) {
            throw failed("cannot be read: ", e);
        }
    }

    private StoreException failed(String what, RuntimeException e) {
        return e instanceof StoreException known
                ? known
                : new StoreUnavailable("The keyspace " + keyspace + " " + what + Failures.message(e), e);
    }

    private Optional<KeyspaceMetadata> metadata() {
        return session.getMetadata().getKeyspace(keyspace);
    }

    private List<String> missing() {
        Optional<KeyspaceMetadata> found = metadata();
        return TABLES.stream()
                .filter(table -> found.flatMap(each -> each.getTable(table)).isEmpty())
                .toList();
    }

    /**
     * Records the layout, or compares it.
     *
     * @throws StoreRejected if the entries were laid out otherwise
     */
    static void checkLayout(Link link, int shards) {
        String ours = "version " + VERSION + ", shards " + shards;
        String stored = agreed(link, "layout", ours);
        if (!ours.equals(stored)) {
            throw new StoreRejected(
                    "The entries of this keyspace have " + stored + ", but this node is set to " + ours
                            + ": use the same number of shards, or another keyspace",
                    null);
        }
    }

    /**
     * Records among whom transactions are ordered, or compares it. Nodes that do not agree on it would not see each other's claims.
     *
     * @throws StoreRejected if other nodes order them otherwise
     */
    static void checkOrder(Link link) {
        String ours = link.serial().equals(ConsistencyLevel.LOCAL_SERIAL)
                ? "LOCAL_SERIAL in " + localDataCentre(link.session())
                : "SERIAL";
        String stored = agreed(link, "serial", ours);
        if (!ours.equals(stored)) {
            throw new StoreRejected(
                    "The transactions of this keyspace are ordered by " + stored + ", but this node is set to " + ours
                            + ": both at once run operations twice. Use the same setting serial=; or, to change it, stop all nodes"
                            + " and DELETE FROM layout WHERE name = 'serial'",
                    null);
        }
    }

    private static String localDataCentre(CqlSession session) {
        return session.getMetadata().getNodes().values().stream()
                .filter(node -> node.getDistance() == NodeDistance.LOCAL)
                .map(node -> String.valueOf(node.getDatacenter()))
                .findFirst()
                .orElse("");
    }

    /** The value that the first node has recorded; ours if we are the first. */
    private static @Nullable String agreed(Link link, String name, String ours) {
        String select = "SELECT value FROM layout WHERE name = '" + name + "'";
        List<Row> rows = link.rows(Statements.of(select, link.level()));
        // In all data centres, whatever the setting: it is what must be agreed upon.
        Link all = new Link(link.session(), ConsistencyLevel.QUORUM, ConsistencyLevel.SERIAL);
        for (int tries = 0; rows.isEmpty() && tries < RECORD_TRIES_MAX; tries++) {
            record(all, name, ours);
            rows = all.rowsAfterAll(Statements.of(select, all.serial()));
        }
        if (rows.isEmpty()) {
            throw new StoreUnavailable(
                    "Cassandra has not recorded the " + name + " of its entries in " + RECORD_TRIES_MAX + " tries",
                    null);
        }
        return rows.get(0).getString("value");
    }

    /** Nodes that start together contend for it: if there is no answer, the next reading tells who was first. */
    private static void record(Link all, String name, String ours) {
        String insert = "INSERT INTO layout (name, value) VALUES (?, ?) IF NOT EXISTS";
        try {
            var unused = all.transaction(SimpleStatement.newInstance(insert, name, ours))
                    .join();
        } catch (RuntimeException e) {
            StoreException failure = Failures.ofWrite(e);
            if (!(failure instanceof StoreOutcomeUnknown)) {
                throw failure;
            }
        }
    }

    /** What the replication of the keyspace does not survive. */
    List<String> risks() {
        List<String> risks = new ArrayList<>();
        for (var factor : metadata()
                .map(KeyspaceMetadata::getReplication)
                .orElse(Map.of())
                .entrySet()) {
            if (!factor.getKey().equals("class") && factor.getValue().matches("[12]")) {
                risks.add("The keyspace " + keyspace + " has " + factor.getValue() + " replicas in " + factor.getKey()
                        + ": set 3, or a node that is lost takes entries or the service with it");
            }
        }
        return risks;
    }

    /** The statements that create the tables. */
    static Stream<String> statements() {
        try (InputStream in = Schema.class.getResourceAsStream("schema.cql")) {
            String text = new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
            return Stream.of(text.replaceAll("--[^\n]*", "").split(";"))
                    .map(String::strip)
                    .filter(statement -> !statement.isEmpty());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
