package dev.onlyonce.redis;

import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreUnavailable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Whether the user may run every command that entries need, on every server. Tries them on keys that nobody uses: commands that tell the
 * rights of a user are often forbidden.
 */
final class CommandRights {
    private static final List<String> KEYS = List.of("probe-text", "probe-set", "probe-stream", "probe-hash");
    /** 1 to 3 stand for the keys. */
    static final List<String> COMMANDS = List.of(
            // The first one needs no memory, so that a server without any takes the others.
            "DEL 1",
            "TIME",
            "MSET 1 1",
            "SET 1 1 PX 60000",
            "SETNX 1 1",
            "GET 1",
            "MGET 1",
            "GETRANGE 1 0 0",
            "EXISTS 1",
            "INCRBY 1 1",
            "DECRBY 1 1",
            "ZADD 2 0 m",
            "ZCARD 2",
            "ZSCAN 2 0",
            "ZRANGEBYSCORE 2 -inf +inf LIMIT 0 1",
            "ZREVRANGEBYSCORE 2 +inf -inf LIMIT 0 1",
            "ZRANGEBYLEX 2 - + LIMIT 0 1",
            "ZREM 2 m",
            "ZREMRANGEBYRANK 2 0 -1",
            "XADD 3 1-1 r 1",
            "XRANGE 3 - + COUNT 1",
            "XSETID 3 2-1",
            "XDEL 3 1-1",
            "HINCRBY 4 m 1",
            "HGET 4 m",
            "HDEL 4 m",
            "DEL 1",
            "DEL 2",
            "DEL 3");
    /** What servers say, in scripts and elsewhere; from 6.2 on. */
    private static final List<String> NO_RIGHT =
            List.of("NOPERM", "can't run this command", "can't access at least one of the keys");

    private CommandRights() {}

    /**
     * Tries them. A server that is down is left out.
     *
     * @throws StoreUnavailable if the user lacks a right; the message names the commands
     */
    static void check(Pipeline pipeline, Partitions partitions) {
        Script probe = Script.alone("probe");
        List<byte[]> words = new ArrayList<>();
        for (String command : COMMANDS) {
            String[] its = command.split(" ");
            words.add(Verbs.number(its.length));
            Stream.of(its).map(Partitions::bytes).forEach(words::add);
        }
        // Once with its text, and once as the server knows it then: these are two commands.
        List<Request> requests = IntStream.range(0, partitions.count())
                .mapToObj(partition -> Request.script(
                        probe,
                        KEYS.stream().map(key -> partitions.key(partition, key)).toList(),
                        words))
                .flatMap(request -> Stream.of(request.withText(), request))
                .toList();
        TreeMap<String, String> missing = new TreeMap<>();
        for (Reply reply : pipeline.send(requests)) {
            StoreException failure = reply.failure();
            if (failure != null && isAboutRights(String.valueOf(failure.getMessage()))) {
                throw lacking("EVAL, EVALSHA", String.valueOf(failure.getMessage()));
            }
            for (int i = 0; i + 1 < reply.values().size(); i += 2) {
                String why = text(reply.values().get(i + 1));
                if (isAboutRights(why)) {
                    missing.put(text(reply.values().get(i)), why);
                }
            }
        }
        if (!missing.isEmpty()) {
            throw lacking(
                    String.join(", ", missing.keySet()), missing.firstEntry().getValue());
        }
    }

    static StoreUnavailable lacking(String commands, String why) {
        return new StoreUnavailable(
                "The user of Redis may not run all commands that entries need, so what was claimed could not be"
                        + " settled. Give it the right to " + commands
                        + " (ACL SETUSER; the page about Redis has the whole rule). Redis says: "
                        + why,
                null);
    }

    static boolean isAboutRights(String why) {
        return NO_RIGHT.stream().anyMatch(why::contains);
    }

    private static String text(Object value) {
        return new String((byte[]) value, StandardCharsets.UTF_8);
    }
}
