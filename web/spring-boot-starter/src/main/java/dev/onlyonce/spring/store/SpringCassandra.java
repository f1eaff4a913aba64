package dev.onlyonce.spring.store;

import dev.onlyonce.spring.operations.InvalidSettings;
import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.Encryption;
import dev.onlyonce.store.StoreOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/** The Cassandra that an application has described for Spring. */
final class SpringCassandra implements DescribedStore {
    private static final int PORT = 9042;
    private static final String WITH_PORT = "(\\[.*]|[^:]*):\\d+";

    private final Binder binder;

    SpringCassandra(Environment environment) {
        this.binder = Binder.get(environment);
    }

    @Override
    public String prefix() {
        return "spring.cassandra";
    }

    private @Nullable String text(String name) {
        return binder.bind(prefix() + "." + name, String.class).orElse(null);
    }

    @Override
    public StoreOptions options(@Nullable Encryption encryption, boolean create, AuditLevel audit) {
        if (text("ssl.bundle") != null) {
            throw new InvalidSettings(
                    "spring.cassandra.ssl.bundle is set, and the store of the entries takes authorities from a PEM file",
                    "Set onlyonce.store.url to cassandra://host:9042/keyspace?ca=/path/ca.pem, or use spring.cassandra.ssl.enabled with"
                            + " the trust store of the JVM.",
                    null);
        }
        String keyspace = text("keyspace-name");
        List<String> settings = new ArrayList<>();
        String dataCentre = text("local-datacenter");
        if (dataCentre != null) {
            settings.add("dc=" + dataCentre);
        }
        if (binder.bind(prefix() + ".ssl.enabled", Boolean.class).orElse(false)) {
            settings.add("tls=true");
        }
        String url = "cassandra://" + servers()
                + (keyspace == null ? "" : "/" + keyspace)
                + (settings.isEmpty() ? "" : "?" + String.join("&", settings));
        return new StoreOptions(url, text("username"), text("password"), encryption, create, audit);
    }

    private String servers() {
        int port = binder.bind(prefix() + ".port", Integer.class).orElse(PORT);
        return binder
                .bind(prefix() + ".contact-points", Bindable.listOf(String.class))
                .orElse(List.of("127.0.0.1"))
                .stream()
                .map(point -> point.matches(WITH_PORT) ? point : point + ":" + port)
                .collect(Collectors.joining(","));
    }
}
