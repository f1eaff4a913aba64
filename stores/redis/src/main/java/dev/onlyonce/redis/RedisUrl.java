package dev.onlyonce.redis;

import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.StoreOptions;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterURIUtil;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** A URL with the settings of a store behind its question mark. */
record RedisUrl(String server, List<String> settings) {
    private static final String SENTINEL = "rediss?-sentinel://.+#.+";
    private static final String SENTINEL_UNNAMED = "rediss?-sentinel://[^#]+";
    private static final String SERVERS = "rediss?://.+";
    private static final String DATABASE = ".+://[^/]*/[1-9]\\d*(#.*)?";

    static RedisUrl of(String url) {
        int query = url.indexOf('?');
        if (query < 0) {
            return new RedisUrl(url, List.of());
        }
        String server = url.substring(0, query);
        String settings = url.substring(query + 1);
        int name = settings.indexOf('#');
        if (name >= 0 && server.matches(SENTINEL_UNNAMED)) {
            // The name of the master may be the last part, as the standard for URLs has it.
            server += settings.substring(name);
            settings = settings.substring(0, name);
        }
        return new RedisUrl(server, List.of(settings.split("&", -1)));
    }

    /** Applies the settings; throws {@link IllegalArgumentException} for one that does not exist or has a wrong value. */
    void applyTo(RedisStore.Builder builder) {
        for (String setting : settings) {
            String[] parts = setting.split("=", 2);
            String value = parts.length == 2 ? parts[1] : "";
            try {
                apply(builder, parts[0], value);
            } catch (RuntimeException e) {
                throw new IllegalArgumentException(
                        "\"" + StoreOptions.shown(setting)
                                + "\" is not a setting of the Redis store: after the ? of its URL write prefix=onlyonce,"
                                + " partitions=64, replicas=1, fsynced=true, timeout=2s, audit=exceptions, auditRecordsMax=1000000 or"
                                + " acceptDataLoss=true,"
                                + " and ca=/etc/ssl/redis-ca.pem after rediss://, separated by &",
                        e);
            }
        }
    }

    /** The same for a shared cache. */
    void applyTo(CachedStore.Builder builder) {
        for (String setting : settings) {
            String[] parts = setting.split("=", 2);
            try {
                String value = parts.length == 2 ? parts[1] : "";
                switch (parts[0]) {
                    case "freshFor" -> builder.freshFor(Duration.parse("PT" + value));
                    case "timeout" -> builder.timeout(Duration.parse("PT" + value));
                    case "ca" -> builder.ca(Path.of(value));
                    default -> throw new IllegalArgumentException("no such setting");
                }
            } catch (RuntimeException e) {
                throw new IllegalArgumentException(
                        "\"" + StoreOptions.shown(setting)
                                + "\" is not a setting of the shared cache: after the ? of its URL write freshFor=5s or"
                                + " timeout=0.05s, and ca=/etc/ssl/redis-ca.pem after rediss://, separated by &",
                        e);
            }
        }
    }

    private static void apply(RedisStore.Builder builder, String name, String value) {
        switch (name) {
            case "ca" -> builder.ca(Path.of(value));
            case "prefix" -> builder.prefix(value);
            case "partitions" -> builder.partitions(Integer.parseInt(value));
            case "replicas" -> builder.replicas(Integer.parseInt(value));
            case "fsynced" -> builder.fsynced(parseBoolean(value));
            case "timeout" -> builder.timeout(Duration.parse("PT" + value));
            case "audit" -> builder.audit(audit(value));
            case "auditRecordsMax" -> builder.auditRecordsMax(Long.parseLong(value));
            case "acceptDataLoss" -> builder.acceptDataLoss(parseBoolean(value));
            default -> throw new IllegalArgumentException("no such setting");
        }
    }

    /** The file, if a connection to these servers needs one. */
    Path checkedCa(Path ca) {
        if (ca.toString().isEmpty() || !server.startsWith("rediss")) {
            throw new IllegalArgumentException("ca is the name of a PEM file, for URLs that begin with rediss://");
        }
        return ca;
    }

    private static AuditLevel audit(String value) {
        return switch (value) {
            case "all" -> AuditLevel.ALL;
            case "exceptions" -> AuditLevel.EXCEPTIONS;
            default -> throw new IllegalArgumentException(value);
        };
    }

    /** Strict: a misspelt no must not accept anything. */
    private static boolean parseBoolean(String value) {
        if (!value.equals("true") && !value.equals("false")) {
            throw new IllegalArgumentException(value);
        }
        return value.equals("true");
    }

    /** The servers to connect to. */
    List<RedisURI> servers() {
        if (server.matches(DATABASE)) {
            throw new IllegalArgumentException(
                    "entries are kept in database 0 of Redis: leave the number after the / of the URL out, and set a prefix"
                            + " instead (?prefix=onlyonce)");
        }
        try {
            if (server.matches(SENTINEL)) {
                return List.of(RedisURI.create(server));
            } else if (server.matches(SERVERS)) {
                return RedisClusterURIUtil.toRedisURIs(URI.create(server));
            }
        } catch (IllegalArgumentException | NullPointerException e) {
            // Answered below, without the cause: its message repeats the password.
        }
        throw new IllegalArgumentException(
                "the URL of Redis must have the form redis://user:password@host:port,host:port, rediss://… for TLS, or"
                        + " redis-sentinel://password@host:port,host:port#master; write characters like / and @ in a password"
                        + " as %2F and %40");
    }
}
