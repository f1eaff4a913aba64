package dev.onlyonce.redis;

import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreUnavailable;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Whether the user may run every command that entries need, on every server. Tries them on keys that nobody uses: commands that tell the
 * rights of a user are often forbidden.
 */
final class CommandRights {
    private static final List<String> KEYS = List.of("probe-text", "probe-set", "probe-stream");
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
        // Once with its text, and once as the server knows it then: these are two commands.
        List<Request> requests = IntStream.range(0, partitions.count())
                .mapToObj(partition -> Request.script(
                        probe,
                        KEYS.stream().map(key -> partitions.key(partition, key)).toList(),
                        List.of()))
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
                "The user of Redis may not run all commands that entries need, so what was claimed could not be settled. Give"
                        + " it the right to " + commands
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
