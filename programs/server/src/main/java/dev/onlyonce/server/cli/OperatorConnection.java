package dev.onlyonce.server.cli;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.Policy;
import dev.onlyonce.http.admin.AdminOperator;
import dev.onlyonce.http.admin.Program;
import dev.onlyonce.server.admin.AdminTokens;
import dev.onlyonce.server.admin.OperatorParts;
import dev.onlyonce.server.admin.RemoteOperator;
import dev.onlyonce.server.config.ConfigFile;
import dev.onlyonce.server.config.StoreSettings;
import dev.onlyonce.server.gateway.OpenStore;
import dev.onlyonce.sql.SchemaMode;
import dev.onlyonce.store.AuditLevel;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What an operator's command works on: a running gateway, or a database. */
final class OperatorConnection {
    /** Short-lived commands leave sweeping to the gateways. */
    private static final Duration NEVER = Duration.ofDays(1);

    @Option(
            names = "--admin",
            paramLabel = "URL",
            defaultValue = "http://127.0.0.1:8091",
            description = "The gateway's admin API, as a URL or host:port (${DEFAULT-VALUE})")
    private String admin = "http://127.0.0.1:8091";

    @Option(
            names = "--admin-token-file",
            paramLabel = "FILE",
            description = "The credential (admin-token in the data directory)")
    private @Nullable Path tokenFile;

    @Option(
            names = "--data",
            paramLabel = "DIR",
            defaultValue = "data",
            description = "The gateway's data directory (${DEFAULT-VALUE})")
    private Path data = Path.of("data");

    @Option(names = "--db", paramLabel = "STORE-URL", description = "Works on this store directly, without a gateway")
    private @Nullable String db;

    @Option(names = "--json", description = "Prints JSON, for programs")
    private boolean json;

    boolean isJson() {
        return json;
    }

    /** For work on a database, with a way to treat its tables. */
    AdminOperator open(SchemaMode schema) throws Cli.Failed {
        return db == null ? remote() : local(db, schema);
    }

    private AdminOperator remote() throws Cli.Failed {
        Path file = tokenFile == null ? data.resolve(AdminTokens.FILE) : tokenFile;
        if (!Files.exists(file)) {
            throw new Cli.Failed(
                    Cli.UNAVAILABLE,
                    "There is no credential in " + file
                            + ". Say where the gateway's data directory is with --data, or use --admin-token-file or"
                            + " --db");
        }
        try {
            return new RemoteOperator(adminUrl(admin), AdminTokens.read(file));
        } catch (IOException e) {
            throw new Cli.Failed(Cli.UNAVAILABLE, "The credential in " + file + " cannot be read: " + e.getMessage());
        }
    }

    /** Without a scheme it is plain HTTP, as the gateway speaks it to operators. */
    static URI adminUrl(String text) throws Cli.Failed {
        try {
            URI url = new URI(text.contains("://") ? text : "http://" + text);
            boolean http = "http".equalsIgnoreCase(url.getScheme()) || "https".equalsIgnoreCase(url.getScheme());
            if (http && url.getHost() != null) {
                return url;
            }
        } catch (URISyntaxException e) {
            // Answered below, as what is a URL but not one of the admin API.
        }
        throw new Cli.Failed(
                Cli.USAGE, "\"" + text + "\" is not the address of an admin API; write for example 127.0.0.1:8091");
    }

    private AdminOperator local(String url, SchemaMode schema) throws Cli.Failed {
        StoreSettings settings;
        try {
            settings = new StoreSettings(
                    ConfigFile.storeUrl(url), null, null, schema, null, AuditLevel.ALL, StoreSettings.AUDIT_RETENTION);
        } catch (IllegalArgumentException e) {
            throw new Cli.Failed(Cli.USAGE, String.valueOf(e.getMessage()));
        }
        if (url.startsWith(OpenStore.SQLITE) && !Files.exists(OpenStore.file(url))) {
            throw new Cli.Failed(
                    Cli.UNAVAILABLE,
                    "There is no database " + OpenStore.file(url)
                            + "; a gateway makes its own. To make one beforehand, create an empty file and run:"
                            + " onlyonce schema apply");
        }
        OpenStore store = OpenStore.open(settings, data, schema);
        Onlyonce once = Onlyonce.builder(store.store())
                .node("command line")
                .sweepEvery(NEVER)
                .purgeEvery(NEVER)
                .resultBytesMax(Math.min(
                        Policy.standard().resultBytesMax(),
                        store.store().limits().resultBytesMax()))
                .build();
        String who = "operator " + System.getProperty("user.name", "unknown");
        return OperatorParts.open(once, store.store(), Program.NONE, null, who, () -> {
            once.close();
            store.close();
        });
    }
}
