package dev.onlyonce.spring.store;

import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;

/** What stores, meters and the console look up by name, for native images. What is not on the class path does no harm here. */
final class NativeHints implements RuntimeHintsRegistrar {
    static final List<String> RESOURCES = List.of(
            "schema/*/*.sql",
            "dev/onlyonce/redis/*.lua",
            "dev/onlyonce/cassandra/*.cql",
            "META-INF/onlyonce/console/*");

    static final List<Class<?>> PROXIES = List.of(
            Connection.class,
            Statement.class,
            PreparedStatement.class,
            CallableStatement.class,
            DatabaseMetaData.class);

    static final String LETTUCE = "io.lettuce.core.resource.ClientResources";

    /** Types whose public methods are looked up. */
    static final List<String> BY_NAME =
            List.of("io.prometheus.metrics.model.snapshots.PrometheusNaming", "org.postgresql.PGConnection");

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classes) {
        RESOURCES.forEach(hints.resources()::registerPattern);
        PROXIES.forEach(hints.proxies()::registerJdkProxy);
        hints.proxies().registerJdkProxy(TypeReference.of(LETTUCE));
        BY_NAME.forEach(
                type -> hints.reflection().registerTypeIfPresent(classes, type, MemberCategory.INVOKE_PUBLIC_METHODS));
    }
}
