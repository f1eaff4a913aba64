package dev.onlyonce.server.cli;

import dev.onlyonce.http.Profile;
import dev.onlyonce.server.config.ConfigFile;
import dev.onlyonce.server.config.EffectiveConfig;
import dev.onlyonce.server.config.InvalidConfig;
import dev.onlyonce.server.config.Listen;
import dev.onlyonce.server.config.OwnerOnly;
import dev.onlyonce.server.config.Settings;
import dev.onlyonce.server.config.StoreSettings;
import dev.onlyonce.server.config.Tenancy;
import dev.onlyonce.server.config.Upstream;
import dev.onlyonce.server.gateway.Gateway;
import dev.onlyonce.server.gateway.OpenStore;
import dev.onlyonce.server.observe.Logs;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "gateway",
        description = {
            "Runs the gateway in front of a service.",
            "Without --config it protects every POST and PATCH, tells callers apart by host name and Authorization"
                    + " header, and keeps its entries in SQLite in the data directory. Options win over what the"
                    + " configuration file says, and so do environment variables: ONLYONCE_LISTEN_PORT is listen.port."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  onlyonce gateway --upstream http://127.0.0.1:9000",
            "  onlyonce gateway --upstream http://127.0.0.1:9000 --profile stripe --port 8080",
            "  onlyonce gateway --upstream http://127.0.0.1:9000 --db jdbc:postgresql://127.0.0.1/onlyonce?user=app",
            "  onlyonce gateway --config gateway.yaml --check"
        })
final class GatewayCommand extends PrintingCommand {
    private static final Logger log = LoggerFactory.getLogger(GatewayCommand.class);

    @Option(names = "--upstream", paramLabel = "URL", description = "The service behind, e.g. http://127.0.0.1:9000")
    private @Nullable String upstream;

    @Option(names = "--config", paramLabel = "FILE", description = "A configuration file in YAML, for everything else")
    private @Nullable Path config;

    @Option(names = "--port", paramLabel = "PORT", description = "Where clients connect (8090); 0 for any free port")
    private @Nullable Integer port;

    @Option(names = "--host", paramLabel = "ADDRESS", description = "The address that clients connect to (0.0.0.0)")
    private @Nullable String host;

    @Option(names = "--admin-port", paramLabel = "PORT", description = "Where operators connect, on loopback (8091)")
    private @Nullable Integer adminPort;

    @Option(
            names = "--admin-token-file",
            paramLabel = "FILE",
            description = "The operators' credential (admin-token in the data directory, made at the first start)")
    private @Nullable Path adminTokenFile;

    @Option(names = "--data", paramLabel = "DIR", description = "The directory for what the gateway keeps (data)")
    private @Nullable Path data;

    @Option(
            names = "--db",
            paramLabel = "STORE-URL",
            description = "Where the entries are kept: a JDBC URL of PostgreSQL, MySQL, MariaDB or SQLite,"
                    + " or redis://, rediss://, redis-sentinel://, dynamodb: or cassandra://")
    private @Nullable String db;

    @Option(names = "--profile", paramLabel = "PROFILE", description = "ietf (default), stripe, strict or oasis")
    private @Nullable String profile;

    @Option(names = "--check", description = "Only checks the configuration")
    private boolean check;

    @Option(
            names = "--print-config",
            description = "Only prints the effective configuration, of file, environment and options, without secrets")
    private boolean printConfig;

    @Override
    public Integer call() throws Exception {
        EffectiveConfig effective = effective();
        Settings settings = effective.settings();
        if (printConfig) {
            out().println(effective.yaml().stripTrailing());
            return Cli.OK;
        }
        if (check) {
            out().println("The configuration is valid: "
                    + settings.protection().operations().size() + " operations, "
                    + settings.upstreams().size() + " upstreams, store " + settings.store());
            return Cli.OK;
        }
        run(effective);
        return Cli.OK;
    }

    private EffectiveConfig effective() throws Cli.Failed {
        try {
            EffectiveConfig read = config == null ? fromOptions() : ConfigFile.read(config, System.getenv());
            EffectiveConfig effective = new EffectiveConfig(overridden(read.settings()), read.values());
            effective.put("listen", "host", host);
            effective.put("listen", "port", port);
            effective.put("admin", "port", adminPort);
            effective.put("admin", "token-file", adminTokenFile);
            effective.put("store", "url", db);
            effective.put("", "data", data);
            return effective;
        } catch (InvalidConfig | IllegalArgumentException e) {
            throw new Cli.Failed(Cli.USAGE, String.valueOf(e.getMessage()));
        }
    }

    /** They are as good as variables of the environment, and win. */
    private EffectiveConfig fromOptions() throws InvalidConfig {
        Map<String, String> environment = new HashMap<>(System.getenv());
        if (upstream != null) {
            environment.put("ONLYONCE_UPSTREAM", ConfigFile.url(upstream).toString());
        }
        if (profile != null) {
            environment.put("ONLYONCE_DEFAULTS_PROFILE", Profile.of(profile).name());
        }
        if (!environment.containsKey("ONLYONCE_UPSTREAM")) {
            throw new CommandLine.ParameterException(
                    commandLine(), "Say where the service is: --upstream http://127.0.0.1:9000, or --config FILE");
        }
        return ConfigFile.none(environment);
    }

    private Settings overridden(Settings settings) {
        if (config != null && profile != null) {
            throw new CommandLine.ParameterException(
                    commandLine(), "With --config the profile stands in the file, under defaults");
        }
        Listen listen = settings.listen();
        Settings.Admin admin = settings.admin();
        List<Upstream> upstreams = config != null && upstream != null
                ? List.of(moved(settings, ConfigFile.url(upstream)))
                : settings.upstreams();
        Settings changed = new Settings(
                new Listen(
                        host == null ? listen.host() : host,
                        port("--port", port, listen.port()),
                        listen.tls(),
                        listen.http2(),
                        listen.ioUring(),
                        listen.limits(),
                        listen.trustedProxies()),
                new Settings.Admin(
                        admin.host(),
                        port("--admin-port", adminPort, admin.port()),
                        adminTokenFile == null ? admin.tokenFile() : checked(adminTokenFile),
                        admin.names(),
                        admin.console()),
                upstreams,
                settings.protection(),
                db == null
                        ? settings.store()
                        : new StoreSettings(
                                ConfigFile.storeUrl(db),
                                null,
                                null,
                                settings.store().schema(),
                                settings.store().encryption(),
                                settings.store().audit(),
                                settings.store().auditRetention()),
                settings.cache(),
                data == null ? settings.data() : data,
                settings.node(),
                settings.observe());
        if (Settings.isSamePort(changed.listen(), changed.admin())) {
            throw new CommandLine.ParameterException(commandLine(), Settings.SAME_PORT);
        }
        return changed;
    }

    private int port(String option, @Nullable Integer given, int otherwise) {
        if (given != null && (given < 0 || given > ConfigFile.PORT_MAX)) {
            throw new CommandLine.ParameterException(
                    commandLine(), option + " must be between 0 and " + ConfigFile.PORT_MAX);
        }
        return given == null ? otherwise : given;
    }

    private static Path checked(Path secret) {
        try {
            OwnerOnly.check(secret);
            return secret;
        } catch (IOException e) {
            throw new IllegalArgumentException("the file " + secret + " does not exist or cannot be read", e);
        }
    }

    private Upstream moved(Settings settings, URI url) {
        if (settings.upstreams().size() != 1) {
            throw new CommandLine.ParameterException(
                    commandLine(), "--upstream goes with a configuration of one upstream only");
        }
        Upstream only = settings.upstreams().get(0);
        Upstream moved = only.at(url);
        if (only.authorities() != null && !moved.isSecure()) {
            throw new CommandLine.ParameterException(
                    commandLine(),
                    "The upstream's certificate must be verified, as tls in the configuration says: --upstream needs"
                            + " https://");
        }
        return moved;
    }

    /** Keeps what is there if the file is wrong, or says something else that needs a restart. */
    private void reload(EffectiveConfig running, Gateway gateway) {
        try {
            EffectiveConfig next = effective();
            List<String> others = running.needRestart(next);
            if (!others.isEmpty()) {
                throw new IllegalArgumentException(
                        String.join(", ", others) + " changed, which takes effect with a restart only");
            }
            gateway.reload(next.settings());
        } catch (Cli.Failed | RuntimeException e) {
            log.error("The configuration was not reloaded; the one before stays in use: {}", e.getMessage());
        }
    }

    private static Gateway start(Settings settings, OpenStore store) {
        try {
            return Gateway.start(settings, store.store());
        } catch (RuntimeException e) {
            store.close();
            throw e;
        }
    }

    private void run(EffectiveConfig effective) throws InterruptedException {
        Settings settings = effective.settings();
        PrintWriter out = out();
        if (settings.observe().jsonLogs()) {
            Logs.json();
        }
        OpenStore.ownerOnly(settings.data());
        OpenStore store = OpenStore.open(settings);
        Gateway gateway = start(settings, store);
        out.println("onlyonce gateway: listening on " + settings.listen().host() + ":" + gateway.port()
                + ", in front of " + settings.upstreams().get(0).url());
        if (settings.protection().tenancy() instanceof Tenancy.Shared shared) {
            out.println("onlyonce gateway: " + shared);
        }
        out.println("onlyonce gateway: operators connect to " + settings.admin().host() + ":" + gateway.adminPort());
        out.flush();
        if (config != null) {
            HangUp.handle(() -> reload(effective, gateway));
        }
        Runtime.getRuntime()
                .addShutdownHook(new Thread(
                        () -> {
                            gateway.leave();
                            gateway.drain();
                            store.close();
                            // The signal was obeyed; without this the JVM would report it as a failure.
                            Runtime.getRuntime().halt(Cli.OK);
                        },
                        "drain"));
        new CountDownLatch(1).await();
    }
}
