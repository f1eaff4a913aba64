package dev.onlyonce.cassandra;

import dev.onlyonce.store.StoreOptions;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A URL with the settings of a store behind its question mark. */
record CassandraUrl(
        List<InetSocketAddress> servers,
        String keyspace,
        @Nullable String user,
        @Nullable String password,
        List<String> settings) {
    private static final int PORT_STANDARD = 9042;
    private static final Pattern FORM = Pattern.compile(
            "cassandra://(?:(?<user>[^:/@]+):(?<password>[^/@]*)@)?(?<servers>[^/@?]+)(?:/(?<keyspace>[a-z][a-z0-9_]{0,47}))?(?:\\?(?<settings>.*))?");
    private static final Pattern SERVER =
            Pattern.compile("(?<host>\\[[0-9a-fA-F:]+]|[^:\\[\\]]+)(?::(?<port>\\d{1,5}))?");

    static CassandraUrl of(String url) {
        Matcher parts = FORM.matcher(url);
        if (!parts.matches()) {
            throw wrong();
        }
        List<InetSocketAddress> servers = new ArrayList<>();
        for (String server : parts.group("servers").split(",", -1)) {
            servers.add(address(server));
        }
        String keyspace = parts.group("keyspace");
        String settings = parts.group("settings");
        return new CassandraUrl(
                servers,
                keyspace == null ? "onlyonce" : keyspace,
                decoded(parts.group("user")),
                decoded(parts.group("password")),
                settings == null ? List.of() : List.of(settings.split("&", -1)));
    }

    /** Without the text itself, which may have a password. */
    private static IllegalArgumentException wrong() {
        return new IllegalArgumentException(
                "the URL of Cassandra must have the form cassandra://user:password@host:9042,host:9042/keyspace; a keyspace has"
                        + " small letters, digits and _; write characters like / and @ in a password as %2F and %40");
    }

    private static InetSocketAddress address(String server) {
        Matcher parts = SERVER.matcher(server);
        if (!parts.matches()) {
            throw wrong();
        }
        int port = parts.group("port") == null ? PORT_STANDARD : Integer.parseInt(parts.group("port"));
        if (port < 1 || port > 65_535) {
            throw wrong();
        }
        return InetSocketAddress.createUnresolved(parts.group("host"), port);
    }

    private static @Nullable String decoded(@Nullable String part) {
        try {
            // A plus is a plus here.
            return part == null ? null : URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw wrong();
        }
    }

    /** Applies the settings; throws {@link IllegalArgumentException} for one that does not exist or has a wrong value. */
    void applyTo(CassandraStore.Builder builder) {
        for (String setting : settings) {
            String[] parts = setting.split("=", 2);
            try {
                apply(builder, parts[0], parts.length == 2 ? parts[1] : "");
            } catch (RuntimeException e) {
                throw new IllegalArgumentException(
                        "\"" + StoreOptions.shown(setting)
                                + "\" is not a setting of the Cassandra store: after the ? of its URL write dc=dc1, replication=3,"
                                + " serial=SERIAL or LOCAL_SERIAL, tls=true, ca=/path/ca.pem, timeout=5s,"
                                + " clockTolerance=10m, shards=16 or"
                                + " auditRetention=9600h, separated by &",
                        e);
            }
        }
    }

    private static void apply(CassandraStore.Builder builder, String name, String value) {
        switch (name) {
            case "dc" -> builder.dataCentre(value);
            case "replication" -> builder.replication(Integer.parseInt(value));
            case "serial" -> builder.serial(CassandraStore.Serial.valueOf(value));
            case "tls" -> builder.tls(parseBoolean(value));
            case "ca" -> builder.ca(path(value));
            case "timeout" -> builder.timeout(Duration.parse("PT" + value));
            case "clockTolerance" -> builder.clockTolerance(Duration.parse("PT" + value));
            case "shards" -> builder.shards(Integer.parseInt(value));
            case "auditRetention" -> builder.auditRetention(Duration.parse("PT" + value));
            default -> throw new IllegalArgumentException("no such setting");
        }
    }

    private static Path path(String value) {
        if (value.isEmpty()) {
            throw new IllegalArgumentException(value);
        }
        return Path.of(value);
    }

    /** Strict: a misspelt yes must not leave a connection in the clear. */
    private static boolean parseBoolean(String value) {
        if (!value.equals("true") && !value.equals("false")) {
            throw new IllegalArgumentException(value);
        }
        return value.equals("true");
    }

    /** For messages, without the password. */
    String shown() {
        return String.join(
                ", ",
                servers.stream()
                        .map(server -> server.getHostString() + ":" + server.getPort())
                        .toList());
    }
}
