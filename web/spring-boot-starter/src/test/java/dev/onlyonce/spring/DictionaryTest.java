package dev.onlyonce.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.Policy;
import dev.onlyonce.fingerprint.Fingerprinter;
import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.Limits;
import dev.onlyonce.http.Operation;
import dev.onlyonce.http.Profile;
import dev.onlyonce.spring.operations.UnknownSettingsAnalyzer;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.store.AuditLevel;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.beans.factory.config.YamlPropertiesFactoryBean;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.util.unit.DataSize;

/**
 * One setting has one name and one default: in the Java builders, in the Spring properties and in the gateway's file. The
 * reference of that file is read here; a test of the gateway says that the gateway accepts it, so its names are the gateway's.
 */
@DisplayName("One dictionary of settings")
class DictionaryTest {
    /** No such place: the reason stands beside each use. */
    private static final String NONE = "";

    /** Where a setting is in each place. A new setting of {@link OnlyonceProperties} needs a row. */
    enum Setting {
        LEASE(Policy.Builder.class, "lease", "lease", "defaults.lease"),
        HELD_MAX(Policy.Builder.class, "heldMax", "held-max", "defaults.held-max"),
        CALL_MAX(Policy.Builder.class, "callMax", "call-max", "defaults.call-max"),
        ON_LEASE_LOST(Policy.Builder.class, "onLeaseLost", "on-lease-lost", "defaults.on-lease-lost"),
        RETENTION(Policy.Builder.class, "retention", "retention", "defaults.retention"),
        TOMBSTONE(Policy.Builder.class, "tombstone", "tombstone", "defaults.tombstone"),
        WAIT_MAX(Policy.Builder.class, "waitMax", "wait-max", "defaults.wait-max"),
        RESULT_BYTES_MAX(Policy.Builder.class, "resultBytesMax", "result-bytes-max", "defaults.result-bytes-max"),
        PROFILE(Operation.Builder.class, "profile", "profile", "defaults.profile"),
        BODY_BYTES_MAX(Operation.Builder.class, "bodyBytesMax", "body-bytes-max", "defaults.body-bytes-max"),
        REFUSE_PERSONAL_KEYS(
                Operation.Builder.class, "refusePersonalKeys", "refuse-personal-keys", "defaults.refuse-personal-keys"),
        SCOPE(Operation.Builder.class, "scope", "operations.*.scope", "defaults.scope"),
        KEY_FORMAT(Operation.Builder.class, "keyFormat", "operations.*.key-format", "defaults.key-format"),
        // Browsers send forms to the application that made them.
        KEY_FIELD(Operation.Builder.class, "keyField", "operations.*.key-field", NONE),
        FINGERPRINT_HEADERS(
                Operation.Builder.class,
                "fingerprintHeaders",
                "operations.*.fingerprint-headers",
                "defaults.fingerprint-headers"),
        IGNORED_MEMBERS(
                Operation.Builder.class, "ignoredMembers", "operations.*.ignored-members", "defaults.ignored-members"),
        // The names of lists in the file have an index.
        FORMERLY(Operation.Builder.class, "formerly", "operations.*.formerly", NONE),
        REQUEST_AGE(Operation.Builder.class, "requestAge", "operations.*.request-age", "operations[0].request-age.max"),
        KEY_REQUIRED(Profile.Builder.class, "keyRequired", "operations.*.key-required", "defaults.key-required"),
        ON_SERVER_ERROR(
                Profile.Builder.class, "onServerError", "operations.*.on-server-error", "defaults.on-server-error"),
        WHEN_RUNNING(Profile.Builder.class, "whenRunning", "operations.*.when-running", "defaults.when-running"),
        NEW_KEYS_PER_SECOND(
                Limits.Builder.class, "newKeysPerSecond", "limits.new-keys-per-second", "limits.new-keys-per-second"),
        LIVE_MAX(Limits.Builder.class, "liveMax", "limits.live-max", "limits.live-max"),
        STORED_MAX(Limits.Builder.class, "storedMax", "limits.stored-max", "limits.stored-max"),
        LOOK_UPS_PER_SECOND(
                Limits.Builder.class, "lookUpsPerSecond", "limits.look-ups-per-second", "limits.look-ups-per-second"),
        LIMITS(Boundary.Builder.class, "limits", "limits", NONE),
        NODE(Onlyonce.Builder.class, "node", "node", "node"),
        AUDIT_RETENTION(Onlyonce.Builder.class, "auditRetention", "store.audit-retention", "store.audit-retention"),
        AUDIT(SqlStore.Builder.class, "audit", "store.audit", "store.audit"),
        SCHEMA(SqlStore.Builder.class, "schema", "store.schema", "store.schema"),
        // The gateway has one fixed value for each of these.
        SWEEP_EVERY(Onlyonce.Builder.class, "sweepEvery", "store.sweep-every", NONE),
        PURGE_EVERY(Onlyonce.Builder.class, "purgeEvery", "store.purge-every", NONE),
        CACHE_BYTES_MAX(Onlyonce.Builder.class, "cacheBytesMax", "store.cache-bytes-max", NONE),
        STORE_WAIT_MAX(Onlyonce.Builder.class, "storeWaitMax", "store.wait-max", NONE),
        STATUS_PATH(Boundary.Builder.class, "statusPath", "status-path", NONE),
        // The gateway authenticates nobody by default, so callers are told apart by host name and credentials.
        ANONYMOUS_TENANT(Boundary.Builder.class, "anonymousTenant", "anonymous-tenant", NONE),
        ANONYMOUS_CREDENTIALS(Boundary.Builder.class, "anonymousCredentials", "anonymous-credentials", NONE);

        final Class<?> builder;
        final String method;
        final String property;
        final String yaml;

        Setting(Class<?> builder, String method, String property, String yaml) {
            this.builder = builder;
            this.method = method;
            this.property = property;
            this.yaml = yaml;
        }
    }

    /**
     * Properties about Spring itself, or about one way to execute, which nothing else has; and where stores and caches are, which Java takes
     * as arguments.
     */
    private static final Set<String> SPRING_ALONE = Set.of(
            "console",
            "enabled",
            "cache",
            "tenant",
            "filter-order",
            "coverage",
            "store",
            "store.memory",
            "store.redis",
            "store.dynamodb",
            "store.cassandra",
            "store.sqlite",
            "store.url",
            "store.user",
            "store.password",
            "encryption",
            "outbox",
            "messages",
            "operations");

    private static String kebab(String camelCase) {
        return camelCase.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
    }

    private static String last(String path) {
        return path.substring(path.lastIndexOf('.') + 1);
    }

    private static Optional<Class<?>> type(Class<?> record, String component) {
        return Arrays.stream(record.getRecordComponents())
                .filter(it -> kebab(it.getName()).equals(component))
                .<Class<?>>map(RecordComponent::getType)
                .findFirst();
    }

    /** Whether there is a property with this name. */
    private static boolean isProperty(String property) {
        if (property.startsWith("operations.*.")) {
            return type(OnlyonceProperties.OperationSettings.class, property.substring("operations.*.".length()))
                    .isPresent();
        }
        Class<?> at = OnlyonceProperties.class;
        for (String part : property.split("\\.")) {
            Optional<Class<?>> next = type(at, part);
            if (next.isEmpty()) {
                return false;
            }
            at = next.get();
        }
        return true;
    }

    private static Path root() {
        return Path.of(System.getProperty("onlyonce.root"));
    }

    /** The gateway's reference file, flat. */
    private static Properties gateway() throws Exception {
        String page = Files.readString(root().resolve("docs/reference/gateway-config.md"));
        String yaml = page.substring(page.indexOf("```yaml") + 7, page.lastIndexOf("```"));
        // The node has no default that could stand there.
        String shown = yaml.replace("# node: ", "node: ");
        YamlPropertiesFactoryBean reader = new YamlPropertiesFactoryBean();
        reader.setResources(new ByteArrayResource(shown.getBytes(StandardCharsets.UTF_8)));
        Properties properties = reader.getObject();
        assertThat(properties).isNotNull();
        return properties;
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("has the same words in Java, in Spring and in the gateway's file")
    void names(Setting setting) throws Exception {
        assertThat(Arrays.stream(setting.builder.getMethods()).map(Method::getName))
                .as(setting.builder.getName())
                .contains(setting.method);
        assertThat(isProperty(setting.property)).as(setting.property).isTrue();
        String java = kebab(setting.method);
        assertThat(setting.property.replace('.', '-')).endsWith(java);
        if (!setting.yaml.equals(NONE)) {
            assertThat(gateway()).containsKey(setting.yaml);
            assertThat(setting.yaml.replace(".max", "").replace('.', '-')).endsWith(java);
        }
    }

    @Test
    @DisplayName("has a row for every Spring property")
    void complete() {
        Set<String> rows =
                Arrays.stream(Setting.values()).map(setting -> setting.property).collect(Collectors.toSet());
        Set<String> operations = rows.stream().map(DictionaryTest::last).collect(Collectors.toSet());
        assertThat(names(OnlyonceProperties.class, "")).isSubsetOf(union(rows, SPRING_ALONE));
        assertThat(names(OnlyonceProperties.StoreSettings.class, "store.")).isSubsetOf(union(rows, SPRING_ALONE));
        assertThat(names(OnlyonceProperties.Limits.class, "limits.")).isSubsetOf(rows);
        assertThat(names(OnlyonceProperties.OperationSettings.class, "")).isSubsetOf(operations);
    }

    private static Set<String> names(Class<?> record, String prefix) {
        return Arrays.stream(record.getRecordComponents())
                .map(component -> prefix + kebab(component.getName()))
                .collect(Collectors.toSet());
    }

    private static Set<String> union(Set<String> some, Set<String> others) {
        return Stream.concat(some.stream(), others.stream()).collect(Collectors.toSet());
    }

    @Test
    @DisplayName("has the same defaults in Java, in Spring and in the gateway's file")
    void defaults() throws Exception {
        OnlyonceProperties spring = new Binder(new MapConfigurationPropertySource(Map.of()))
                .bindOrCreate("onlyonce", OnlyonceProperties.class);
        Properties gateway = gateway();
        Policy java = Policy.standard();
        Operation operation = Operation.builder("POST", "/payments").build();
        Profile profile = operation.profile();

        assertSame(java.terms().lease(), spring.lease(), gateway, "lease");
        assertSame(java.terms().retention(), spring.retention(), gateway, "retention");
        assertSame(java.terms().tombstone(), spring.tombstone(), gateway, "tombstone");
        assertSame(java.waitMax(), spring.waitMax(), gateway, "wait-max");
        assertThat(spring.heldMax()).as("that of the policy").isNull();
        assertThat(duration(gateway, "held-max")).isEqualTo(java.heldMax());
        assertSame(java.callMax(), spring.callMax(), gateway, "call-max");
        assertSame(java.terms().onLeaseLost(), spring.onLeaseLost(), gateway, "on-lease-lost");
        assertSame(java.resultBytesMax(), spring.resultBytesMax(), gateway, "result-bytes-max");
        assertSame(operation.bodyBytesMax(), spring.bodyBytesMax(), gateway, "body-bytes-max");
        assertThat(operation.bodyBytesMax()).isEqualTo(Fingerprinter.BODY_BYTES_MAX_DEFAULT);
        assertSame(profile.name(), spring.profile(), gateway, "profile");
        assertSame(operation.refusePersonalKeys(), spring.refusePersonalKeys(), gateway, "refuse-personal-keys");
        assertThat(text(gateway, "scope")).isEqualTo(word(operation.scope()));
        assertThat(text(gateway, "key-format")).isEqualTo(operation.keyFormat().name());
        assertThat(text(gateway, "key-required")).isEqualTo(word(profile.keyRequired()));
        assertThat(text(gateway, "on-server-error")).isEqualTo(word(profile.onServerError()));
        assertThat(text(gateway, "when-running")).isEqualTo(word(profile.whenRunning()));
        assertThat(text(gateway, "fingerprint-headers")).isEmpty();
        assertThat(text(gateway, "ignored-members")).isEmpty();
        Limits none = Limits.none();
        assertLimit(none.newKeysPerSecond(), spring.limits().newKeysPerSecond(), gateway, "new-keys-per-second");
        assertLimit(none.liveMax(), spring.limits().liveMax(), gateway, "live-max");
        assertLimit(none.storedMax(), spring.limits().storedMax(), gateway, "stored-max");
        assertLimit(none.lookUpsPerSecond(), spring.limits().lookUpsPerSecond(), gateway, "look-ups-per-second");
        assertThat(spring.statusPath()).isEqualTo(Boundary.STATUS_PATH);
        assertThat(spring.node()).as("that of the engine: host:pid").isNull();
        assertThat(spring.anonymousTenant()).as("refused, as in Java").isNull();
        assertThat(gateway.getProperty("store.schema"))
                .isEqualTo(word(spring.store().schema()));
        assertThat(spring.store().audit()).isEqualTo(AuditLevel.ALL);
        assertThat(gateway.getProperty("store.audit"))
                .isEqualTo(word(spring.store().audit()));
        assertThat(spring.store().auditRetention()).isEqualTo(Duration.ofDays(400));
        assertThat(Files.readString(root().resolve("docs/reference/gateway-config.md")))
                .contains("; 400d without it");
    }

    @Test
    @DisplayName("is in the metadata that editors read")
    void metadata() throws Exception {
        StringBuilder metadata = new StringBuilder();
        for (URL file : Collections.list(OnlyonceProperties.class
                .getClassLoader()
                .getResources("META-INF/spring-configuration-metadata.json"))) {
            try (InputStream in = file.openStream()) {
                metadata.append(new String(in.readAllBytes(), StandardCharsets.UTF_8));
            }
        }
        for (Setting setting : Setting.values()) {
            if (!setting.property.startsWith("operations.*.") && setting != Setting.LIMITS) {
                assertThat(metadata).contains("\"onlyonce." + setting.property + "\"");
            }
        }
    }

    @Test
    @DisplayName("an old name is refused with the new one")
    void renamed() {
        UnknownSettingsAnalyzer.NEW_NAMES.forEach((old, now) -> {
            assertThat(isProperty("operations.*." + old)).as(old).isFalse();
            String name = now.replaceAll(" .*", "").replaceAll("\\..*", "");
            assertThat(isProperty("operations.*." + name)).as(now).isTrue();
        });
    }

    private static void assertSame(Duration java, Duration spring, Properties gateway, String name) {
        assertThat(spring).as(name).isEqualTo(java);
        assertThat(duration(gateway, name)).as(name).isEqualTo(java);
    }

    private static void assertSame(int java, int spring, Properties gateway, String name) {
        assertThat(spring).as(name).isEqualTo(java);
        assertThat(DataSize.parse(text(gateway, name).replace("MiB", "MB")).toBytes())
                .as(name)
                .isEqualTo(java);
    }

    private static void assertSame(Object java, Object spring, Properties gateway, String name) {
        assertThat(spring).as(name).isEqualTo(java);
        assertThat(text(gateway, name)).as(name).isEqualTo(word(java));
    }

    private static void assertLimit(int java, int spring, Properties gateway, String name) {
        assertThat(spring).as(name).isEqualTo(java);
        assertThat(gateway.getProperty("limits." + name)).as(name).isEqualTo(Integer.toString(java));
    }

    private static Duration duration(Properties gateway, String name) {
        return DurationStyle.detectAndParse(text(gateway, name));
    }

    private static String text(Properties gateway, String name) {
        return gateway.getProperty("defaults." + name);
    }

    private static String word(Object constant) {
        return constant.toString().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
