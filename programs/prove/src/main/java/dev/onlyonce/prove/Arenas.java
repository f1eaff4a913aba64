package dev.onlyonce.prove;

import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;

/** The arenas that there are. */
final class Arenas {
    private Arenas() {}

    /** Those that there are, by name. */
    static final Map<String, Arena.Opening> ALL = new TreeMap<>(Map.ofEntries(
            Map.entry("postgres", DatabaseArena::postgres),
            Map.entry("postgres-standby", setting -> new PairArena(setting, true)),
            Map.entry("postgres-asynchronous", setting -> new PairArena(setting, false)),
            Map.entry("mysql", DatabaseArena::mysql),
            Map.entry("mariadb", DatabaseArena::mariaDb),
            Map.entry("sqlite", SqliteArena::new),
            Map.entry("redis", RedisArena::new),
            Map.entry("redis-sentinel", setting -> RedisGroupArena.sentinels(setting, true)),
            Map.entry("redis-asynchronous", setting -> RedisGroupArena.sentinels(setting, false)),
            Map.entry("redis-cluster", RedisGroupArena::cluster),
            Map.entry("dynamodb", DynamoDbArena::new),
            Map.entry("cassandra", CassandraArena::new)));

    /** Starts the servers of a store. */
    static Arena open(String name, Arena.Setting setting) throws IOException {
        Arena.Opening opening = ALL.get(name);
        if (opening == null) {
            throw new IllegalArgumentException("no such store: " + name + "; there are " + ALL.keySet());
        }
        return opening.open(setting);
    }
}
