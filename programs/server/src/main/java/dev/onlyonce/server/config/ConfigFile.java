package dev.onlyonce.server.config;

import static java.util.stream.Collectors.joining;

import dev.onlyonce.http.Limits;
import dev.onlyonce.http.Operation;
import dev.onlyonce.sql.SchemaMode;
import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.StoreOptions;
import dev.onlyonce.store.StoreProvider;
import dev.onlyonce.store.Terms;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.common.FlowStyle;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.Tag;

/** Reads {@code gateway.yaml}. Everything has a default but the upstream. */
public final class ConfigFile {
    private static final Duration NONE = Duration.ZERO;
    private static final Duration HOUR = Duration.ofHours(1);
    /** The highest port. */
    public static final int PORT_MAX = 65_535;

    private static final int MANY = 1_000_000;

    private final Findings findings;
    private final Path folder;

    private ConfigFile(String name, Path folder) {
        findings = new Findings(name);
        this.folder = folder;
    }

    /** Reads and checks the file. */
    public static Settings read(Path file) throws InvalidConfig {
        return read(file, Map.of()).settings();
    }

    /** Reads and checks the file, and the environment variables that win over it. */
    public static EffectiveConfig read(Path file, Map<String, String> environment) throws InvalidConfig {
        String text;
        try {
            text = Files.readString(file);
        } catch (CharacterCodingException e) {
            throw new InvalidConfig(List.of(file + ": the file is not in UTF-8; save it as that"));
        } catch (IOException e) {
            throw new InvalidConfig(List.of(file + ": the file does not exist or cannot be read"));
        }
        Path parent = file.toAbsolutePath().getParent();
        ConfigFile reader = new ConfigFile(file.toString(), parent == null ? Path.of("/") : parent);
        return reader.effective(reader.parse(file, text), environment);
    }

    /**
     * Without a file.
     *
     * @param environment with {@code ONLYONCE_UPSTREAM}
     */
    public static EffectiveConfig none(Map<String, String> environment) throws InvalidConfig {
        Node nothing = new MappingNode(Tag.MAP, new ArrayList<>(), FlowStyle.BLOCK);
        return new ConfigFile("the environment", Path.of("")).effective(nothing, environment);
    }

    private EffectiveConfig effective(Node node, Map<String, String> environment) throws InvalidConfig {
        if (node instanceof MappingNode mapping) {
            new Environment(environment).apply(mapping);
        }
        Section root = Section.root(node, findings, folder);
        Settings settings = settings(root);
        findings.throwIfAny();
        return new EffectiveConfig(settings, root.shown());
    }

    private static Node parse(Path file, String text, LoadSettings how) throws InvalidConfig {
        try {
            return new Compose(how)
                    .composeString(text)
                    .orElseThrow(() -> new InvalidConfig(List.of(file + ": the file is empty; it needs upstreams")));
        } catch (MarkedYamlEngineException e) {
            int line = e.getProblemMark().map(Mark::getLine).orElse(-1) + 1;
            throw new InvalidConfig(List.of(file + ":" + line + ": this is not YAML: " + e.getProblem()));
        } catch (YamlEngineException e) {
            throw new InvalidConfig(List.of(file + ": this is not YAML: " + e.getMessage()));
        }
    }

    private Node parse(Path file, String text) throws InvalidConfig {
        return parse(file, text, LoadSettings.builder().setUseMarks(true).build());
    }

    private Settings settings(Section root) {
        Listen listen = listen(root.sectionOrEmpty("listen"));
        Settings.Admin admin = admin(root.sectionOrEmpty("admin"));
        List<Upstream> upstreams = upstreams(root);
        Tenancy tenancy = new TenancySection(root.section("tenants")).read();
        Limits limits = limits(root.sectionOrEmpty("limits"));
        Defaults defaults = new Defaults(root.sectionOrEmpty("defaults"));
        Map<String, LookUp> lookUps = new HashMap<>();
        List<Operation> operations = operations(root, defaults, lookUps);
        checkLookUps(root, lookUps, upstreams);
        checkTimes(root, operations, upstreams);
        if (Settings.isSamePort(listen, admin)) {
            root.wrong("admin", Settings.SAME_PORT);
        }
        Settings.Refusals refusals = refusals(root);
        StoreSettings store = store(root.sectionOrEmpty("store"));
        CacheSettings cache = CacheSettings.read(root.section("cache"), store);
        Settings.Observe observe = observe(root.sectionOrEmpty("observe"));
        Path data = folder.resolve(root.text("data", "data"));
        String name = root.text("node");
        root.end();
        return new Settings(
                listen,
                admin,
                upstreams,
                new Settings.Protection(operations, lookUps, tenancy, limits, refusals),
                store,
                cache,
                data,
                name,
                observe);
    }

    private static Listen listen(Section section) {
        Listen.Limits usual = Listen.Limits.standard();
        Section tls = section.section("tls");
        Listen.Limits limits = new Listen.Limits(
                section.number("connections-max", usual.connectionsMax(), 1, MANY),
                section.bytes("header-bytes-max", usual.headerBytesMax(), 1024, 1 << 20),
                section.duration("header-timeout", usual.headerTimeout(), Duration.ofSeconds(1), HOUR),
                section.duration("idle-timeout", usual.idleTimeout(), Duration.ofSeconds(1), HOUR),
                section.duration("body-timeout", usual.bodyTimeout(), Duration.ofSeconds(1), HOUR),
                section.bytes("buffer-bytes-max", usual.bufferBytesMax(), 64 << 10, Integer.MAX_VALUE),
                section.duration("drain-grace", usual.drainGrace(), NONE, HOUR),
                section.duration("drain-timeout", usual.drainTimeout(), NONE, HOUR));
        Listen listen = new Listen(
                section.as("host", ConfigFile::host, "0.0.0.0"),
                section.number("port", 8090, 0, PORT_MAX),
                tls == null ? null : new TlsSection(tls).read(),
                section.flag("http2", true),
                section.flag("io-uring", false),
                limits,
                networks(section, "trusted-proxies"));
        section.end();
        return listen;
    }

    private static String host(String text) {
        if (text.isBlank()) {
            throw new IllegalArgumentException("is empty; write for example 127.0.0.1");
        }
        return text;
    }

    static List<Network> networks(Section section, String key) {
        List<Network> networks = new ArrayList<>();
        for (String text : section.texts(key)) {
            try {
                networks.add(Network.parse(text));
            } catch (IllegalArgumentException e) {
                section.wrong(key, String.valueOf(e.getMessage()));
            }
        }
        return networks;
    }

    private static Settings.Admin admin(Section section) {
        Settings.Admin admin = new Settings.Admin(
                section.as("host", ConfigFile::host, "127.0.0.1"),
                section.number("port", 8091, 0, PORT_MAX),
                section.file("token-file", OwnerOnly::check),
                section.texts("names"),
                new Settings.Console(
                        section.file("read-token-file", OwnerOnly::check),
                        section.flag("readers-see-keys", false),
                        section.constant("payloads", Settings.Payloads.class, Settings.Payloads.OPERATORS)));
        section.end();
        return admin;
    }

    private static List<Upstream> upstreams(Section root) {
        List<Upstream> upstreams = new ArrayList<>();
        Set<String> names = new HashSet<>();
        List<Section> sections = root.sections("upstreams");
        for (Section section : sections) {
            Upstream upstream = new UpstreamSection(section).read();
            if (upstream != null) {
                upstreams.add(upstream);
                if (!names.add(upstream.name())) {
                    section.wrong(
                            "name", "there are two upstreams named " + upstream.name() + "; give one another name");
                }
            }
        }
        if (sections.isEmpty()) {
            root.wrong("\"upstreams\" is missing; write for example upstreams: [{url: http://127.0.0.1:9000}]");
        }
        return upstreams;
    }

    /** An upstream's URL; throws {@link IllegalArgumentException} with what to write. */
    public static URI url(String text) {
        try {
            URI url = new URI(text);
            boolean http = "http".equalsIgnoreCase(url.getScheme()) || "https".equalsIgnoreCase(url.getScheme());
            if (url.getRawUserInfo() != null) {
                throw new IllegalArgumentException("an upstream's URL has no user and password; remove them");
            }
            boolean more = url.getRawQuery() != null || url.getRawFragment() != null;
            boolean port = url.getPort() == -1 || (url.getPort() >= 1 && url.getPort() <= PORT_MAX);
            if (!http || url.getHost() == null || more || !port) {
                throw new IllegalArgumentException(
                        "\"" + text + "\" is not an upstream's URL; write for example http://127.0.0.1:9000");
            }
            return url;
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException(
                    "\"" + text + "\" is not a URL; write for example http://127.0.0.1:9000", e);
        }
    }

    private static Limits limits(Section section) {
        Limits limits = Limits.builder()
                .newKeysPerSecond(section.number("new-keys-per-second", 0, 0, MANY))
                .liveMax(section.number("live-max", 0, 0, MANY))
                .storedMax(section.number("stored-max", 0, 0, MANY))
                .lookUpsPerSecond(section.number("look-ups-per-second", 0, 0, MANY))
                .build();
        section.end();
        return limits;
    }

    private static List<Operation> operations(Section root, Defaults defaults, Map<String, LookUp> lookUps) {
        if (!root.has("operations")) {
            return everything(defaults);
        }
        List<Operation> operations = new ArrayList<>();
        Set<String> names = new HashSet<>();
        List<Section> sections = root.sections("operations");
        if (sections.isEmpty()) {
            root.wrong("operations", "nothing would be protected; leave it out to protect every POST and PATCH");
        }
        for (Section section : sections) {
            OperationSection read = new OperationSection(section, defaults);
            for (Operation operation : read.operations()) {
                if (!names.add(operation.name())) {
                    section.wrong("there are two operations named " + operation.name() + "; give one another name");
                }
                operations.add(operation);
                LookUp lookUp = read.lookUp();
                if (lookUp != null) {
                    // Not for its former names: entries of other paths may have had them, about which it would ask
                    // wrongly.
                    lookUps.put(operation.name(), lookUp);
                }
            }
            section.end();
        }
        return operations;
    }

    private static Settings.Refusals refusals(Section root) {
        return new Settings.Refusals(
                root.isFirst("unmatched", "refuse", "pass", false),
                root.isFirst("ambiguous-paths", "refuse", "protect", true));
    }

    private static void checkLookUps(Section root, Map<String, LookUp> lookUps, List<Upstream> upstreams) {
        lookUps.forEach((operation, lookUp) -> {
            Upstream asked = lookUp.upstream(upstreams);
            if (asked != null && asked.timeouts().response().compareTo(lookUp.absentAfter()) > 0) {
                root.wrong(
                        "operations",
                        "the look-up of " + operation + " believes an absence after "
                                + lookUp.absentAfter() + " (absent-after), but " + asked.name()
                                + " may take " + asked.timeouts().response()
                                + " to answer (response-timeout); lengthen the one or shorten the other");
            }
            if (lookUp.upstream(upstreams) == null) {
                root.wrong(
                        "operations",
                        "the look-up of " + operation + " asks for " + lookUp.path() + ", which no upstream takes");
            }
        });
    }

    /** A claim that ends while the service may still answer would make every slow answer an unknown outcome. */
    private static void checkTimes(Section root, List<Operation> operations, List<Upstream> upstreams) {
        for (Upstream upstream : upstreams) {
            operations.stream()
                    .filter(operation -> upstream.timeouts()
                                    .response()
                                    .compareTo(operation.policy().heldMax())
                            > 0)
                    .findFirst()
                    .ifPresent(operation -> root.wrong(
                            "upstreams",
                            "the response-timeout of " + upstream.name() + " is longer than the held-max of "
                                    + operation.name()
                                    + ", so its claim would end before the answer; shorten the one or"
                                    + " lengthen the other"));
        }
    }

    /** What is protected when nothing is said: every POST and PATCH. */
    static List<Operation> everything(Defaults defaults) {
        return List.of(
                defaults.apply(Operation.builder("POST", "/**")).build(),
                defaults.apply(Operation.builder("PATCH", "/**")).build());
    }

    private static StoreSettings store(Section section) {
        String password = section.text("password");
        Path passwordFile = section.file("password-file");
        if (passwordFile != null) {
            if (password != null) {
                section.wrong("give either \"password\" or \"password-file\"");
            }
            try {
                password = Files.readString(passwordFile).strip();
            } catch (IOException e) {
                section.wrong("password-file", "the file cannot be read");
            }
        }
        if (!section.has("url") && (section.has("user") || section.has("password") || passwordFile != null)) {
            section.wrong("SQLite in the data directory has no user and password; give a \"url\"");
        }
        Section encryption = section.section("encryption");
        StoreSettings store = new StoreSettings(
                section.optional("url", ConfigFile::storeUrl),
                section.text("user"),
                password,
                section.constant("schema", SchemaMode.class, SchemaMode.CREATE),
                encryption == null ? null : new EncryptionSection(encryption).read(),
                section.constant("audit", AuditLevel.class, AuditLevel.ALL),
                section.duration("audit-retention", StoreSettings.AUDIT_RETENTION, HOUR, Terms.RETENTION_MAX));
        section.end();
        return store;
    }

    /** The URL of a database that is supported; throws {@link IllegalArgumentException} with what to write. */
    public static String storeUrl(String text) {
        Optional<StoreProvider> provider = StoreProvider.of(text);
        if (provider.isPresent()) {
            provider.get().check(text);
            return text;
        }
        if (JdbcUrl.isSupported(text)) {
            JdbcUrl.check(text);
            return text;
        }
        if (text.startsWith("jdbc:h2:")) {
            throw new IllegalArgumentException(
                    "H2 keeps the entries of an application that has it already; the gateway has no driver for it."
                            + " Leave the URL out for SQLite in the data directory, or use a database server");
        }
        throw new IllegalArgumentException("\"" + StoreOptions.shown(text)
                + "\" is not the URL of a supported database; write for example"
                + " jdbc:postgresql://127.0.0.1:5432/onlyonce, jdbc:mariadb://…, jdbc:sqlite:onlyonce.db"
                + StoreProvider.all().map(known -> " or " + known.example()).collect(joining()));
    }

    private static Settings.Observe observe(Section section) {
        Settings.Observe observe = new Settings.Observe(
                section.isFirst("logs", "json", "text", false),
                section.number("tenant-tags-max", 100, 0, 10_000),
                section.optional("otlp-endpoint", ConfigFile::endpoint));
        section.end();
        return observe;
    }

    private static String endpoint(String text) {
        if (!text.matches("(?i)https?://[^/\\s]+\\S*")) {
            throw new IllegalArgumentException(
                    "\"" + text + "\" is not a URL; write for example http://127.0.0.1:4318/v1/traces");
        }
        return text;
    }
}
