package dev.onlyonce.server.cli;

import dev.onlyonce.check.wire.HeaderLine;
import dev.onlyonce.client.CallBody;
import dev.onlyonce.client.CallRequest;
import dev.onlyonce.client.CallResult;
import dev.onlyonce.client.IdReused;
import dev.onlyonce.client.Journal;
import dev.onlyonce.client.JournalException;
import dev.onlyonce.client.KeyReused;
import dev.onlyonce.client.RetryPolicy;
import dev.onlyonce.client.RetryingClient;
import dev.onlyonce.client.journal.SqliteJournal;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "send",
        description = {
            "Sends one request that must take effect once, and retries it safely.",
            "The key is made once for the id and is on disk before the first byte is sent. After Ctrl-C, a crash or a power cut,"
                    + " run the same command again: it goes on with the same key and the same bytes. Without a URL it resumes"
                    + " the id; without an id too, all that is open.",
            "Prints the body of the answer to standard output, and what happened to standard error.",
            "Headers go to the host of the URL or of the id alone. To resume calls to several hosts, name one with --to."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:it took effect; with --resume, all that was open did",
            "1:the command failed in a way that nobody foresaw; run it again",
            "2:the command line is wrong; nothing was sent",
            "3:the journal has no such id",
            "5:in doubt: it may have taken effect; run the same command again",
            "6:refused: it had no effect",
            "7:the journal cannot be used; nothing was sent",
            "8:the id or the key was used for another request"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  onlyonce send --id order-42 -X POST -d @body.json https://api.example.com/payments",
            "  onlyonce send --pending",
            "  onlyonce send --resume --to https://api.example.com -H \"Authorization: Bearer ...\""
        })
final class SendCommand extends PrintingCommand {
    private static final int REFUSED = 6;
    private static final int JOURNAL = 7;
    private static final int REUSED = 8;

    @Parameters(arity = "0..1", paramLabel = "URL", description = "Where to send it")
    private @Nullable URI url;

    @Option(names = "--id", paramLabel = "ID", description = "What this is, in your business; the same for every try")
    private @Nullable String id;

    @Option(
            names = {"-X", "--request"},
            paramLabel = "METHOD",
            defaultValue = "POST",
            description = "The method (${DEFAULT-VALUE})")
    private String method = "POST";

    @Option(
            names = {"-d", "--data"},
            paramLabel = "DATA",
            description = "The body, or @FILE; JSON unless a header says otherwise")
    private @Nullable String data;

    @Option(
            names = {"-H", "--header"},
            paramLabel = "NAME: VALUE",
            description =
                    "A header for the host of the URL; may be repeated. Credentials are not stored, so give them again to resume")
    private List<String> headers = new ArrayList<>();

    @Option(names = "--journal", paramLabel = "FILE", description = "Where keys are kept (.onlyonce/journal at home)")
    private Path journal = Path.of(System.getProperty("user.home", "."), ".onlyonce", "journal");

    @Option(
            names = "--deadline",
            paramLabel = "SECONDS",
            defaultValue = "60",
            description = "How long to try (${DEFAULT-VALUE})")
    private int deadline = 60;

    @Option(
            names = "--attempts",
            paramLabel = "NUMBER",
            defaultValue = "8",
            description = "How many attempts may fail (${DEFAULT-VALUE})")
    private int attempts = 8;

    @Option(names = "--pending", description = "Lists what is open")
    private boolean pending;

    @Option(names = "--resume", description = "Goes on with the id, or with all that is open")
    private boolean resume;

    @Option(names = "--to", paramLabel = "ORIGIN", description = "With --resume: only calls to this host")
    private @Nullable URI origin;

    @Option(names = "--forget", description = "Drops the id, because you know the outcome")
    private boolean forget;

    @Override
    public Integer call() throws Cli.Failed, IOException {
        Map<String, String> lines = headerLines();
        try (Journal kept = SqliteJournal.open(journal)) {
            if (pending) {
                return list(kept);
            }
            if (forget) {
                return forget(kept, required());
            }
            if (url != null) {
                return send(kept, url, lines);
            }
            return id == null ? resumeAll(kept, lines) : resume(kept, id, lines);
        } catch (JournalException e) {
            throw new Cli.Failed(JOURNAL, String.valueOf(e.getMessage()));
        } catch (KeyReused | IdReused e) {
            throw new Cli.Failed(REUSED, String.valueOf(e.getMessage()));
        } catch (IllegalArgumentException e) {
            throw new Cli.Failed(Cli.USAGE, String.valueOf(e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Cli.Failed(Cli.IN_DOUBT, "Interrupted. Run the same command again to go on.");
        }
    }

    /** A client that gives the headers to this place alone. */
    private RetryingClient client(Journal kept, URI to, Map<String, String> lines) {
        RetryPolicy policy = RetryPolicy.builder()
                .deadline(Duration.ofSeconds(deadline))
                .attemptsMax(attempts)
                .build();
        return RetryingClient.builder(kept)
                .policy(policy)
                .attemptHeaders(to, request -> lines)
                .build();
    }

    private Map<String, String> headerLines() {
        Map<String, String> lines = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        for (HeaderLine line : CheckCommand.lines(headers)) {
            lines.put(line.name(), line.value());
        }
        return lines;
    }

    private String required() throws Cli.Failed {
        if (id == null) {
            throw new Cli.Failed(
                    Cli.USAGE,
                    "--id is missing. Give the request a name that every try of it shares, such as order-42/pay");
        }
        return id;
    }

    private int send(Journal kept, URI to, Map<String, String> lines)
            throws Cli.Failed, IOException, InterruptedException {
        String name = required();
        CallBody body = body();
        if (body.length() > 0) {
            lines.putIfAbsent("Content-Type", "application/json");
        }
        CallRequest request = new CallRequest(method, to, lines, body);
        return tell(client(kept, to, lines).send(name, request));
    }

    private CallBody body() throws IOException, Cli.Failed {
        if (data == null) {
            return CallBody.none();
        }
        if (!data.startsWith("@")) {
            return CallBody.of(data);
        }
        Path file = Path.of(data.substring(1));
        if (!Files.isReadable(file)) {
            throw new Cli.Failed(Cli.USAGE, file + " cannot be read");
        }
        return Files.size(file) > CallBody.BYTES_MAX ? CallBody.file(file) : CallBody.of(Files.readAllBytes(file));
    }

    private int resume(Journal kept, String name, Map<String, String> lines) throws Cli.Failed, InterruptedException {
        URI to = kept.find(name).orElseThrow(() -> unknown(name)).request().uri();
        return tell(client(kept, to, lines).resume(name));
    }

    private int resumeAll(Journal kept, Map<String, String> lines) throws Cli.Failed, InterruptedException {
        if (!resume) {
            throw new Cli.Failed(Cli.USAGE, "A URL is missing; or use --resume, --pending or --help.");
        }
        Map<String, URI> open = new LinkedHashMap<>();
        for (String name : kept.pending()) {
            kept.find(name)
                    .map(call -> call.request().uri())
                    .filter(uri -> origin == null || host(origin).equals(host(uri)))
                    .ifPresent(uri -> open.put(name, uri));
        }
        Set<String> hosts =
                open.values().stream().map(SendCommand::host).collect(Collectors.toCollection(TreeSet::new));
        if (hosts.size() > 1 && !lines.isEmpty()) {
            throw new Cli.Failed(
                    Cli.USAGE,
                    "The open calls go to " + String.join(" and ", hosts)
                            + ". Say with --to which of them may get these headers. Nothing was sent.");
        }
        int code = Cli.OK;
        if (!open.isEmpty()) {
            RetryingClient client = client(kept, open.values().iterator().next(), lines);
            for (String name : open.keySet()) {
                code = worse(code, resumeOne(client, name));
            }
        }
        return code;
    }

    /** One bug must not keep the others from their end. */
    private int resumeOne(RetryingClient client, String name) throws InterruptedException {
        try {
            return tell(client.resume(name));
        } catch (KeyReused e) {
            err().println(e.getMessage());
            return REUSED;
        }
    }

    /** Doubt is worse than all else: somebody has to come back. */
    private static int worse(int one, int other) {
        return one == Cli.IN_DOUBT || other == Cli.IN_DOUBT ? Cli.IN_DOUBT : Math.max(one, other);
    }

    private static String host(URI uri) {
        return String.valueOf(uri.resolve("/")).toLowerCase(Locale.ROOT);
    }

    private int list(Journal kept) {
        Table table = new Table("ID", "METHOD", "URL", "SINCE");
        for (String name : kept.pending()) {
            kept.find(name)
                    .ifPresent(call -> table.row(
                            name,
                            call.request().method(),
                            call.request().uri(),
                            call.progress().createdAt()));
        }
        table.print(out());
        out().flush();
        return Cli.OK;
    }

    private int forget(Journal kept, String name) throws Cli.Failed {
        if (!kept.forget(name)) {
            throw unknown(name);
        }
        return Cli.OK;
    }

    private static Cli.Failed unknown(String name) {
        return new Cli.Failed(Cli.NOT_FOUND, "The journal has no " + name);
    }

    private int tell(CallResult result) {
        err().println(result);
        return result.accept(new CallResult.Visitor<Integer>() {
            @Override
            public Integer done(CallResult.Done done) {
                print(done.response().body());
                return Cli.OK;
            }

            @Override
            public Integer refused(CallResult.Refused refused) {
                print(refused.response().body());
                return REFUSED;
            }

            @Override
            public Integer inDoubt(CallResult.InDoubt inDoubt) {
                return Cli.IN_DOUBT;
            }
        });
    }

    private void print(byte[] body) {
        out().println(new String(body, StandardCharsets.UTF_8));
        out().flush();
    }
}
