package dev.onlyonce.server.cli;

import dev.onlyonce.check.wire.HeaderLine;
import dev.onlyonce.client.CallBody;
import dev.onlyonce.client.CallRequest;
import dev.onlyonce.client.CallResult;
import dev.onlyonce.client.IdReused;
import dev.onlyonce.client.JournalException;
import dev.onlyonce.client.JournaledCall;
import dev.onlyonce.client.KeyReused;
import dev.onlyonce.client.RetryPolicy;
import dev.onlyonce.client.RetryingClient;
import dev.onlyonce.client.journal.FileJournal;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
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
            "Prints the body of the answer to standard output, and what happened to standard error."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  onlyonce send --id order-42 -X POST -d @body.json https://api.example.com/payments",
            "  onlyonce send --pending",
            "  onlyonce send --resume -H \"Authorization: Bearer ...\""
        })
final class SendCommand extends PrintingCommand {
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
            description = "A header; may be repeated. Credentials are not stored, so give them again to resume")
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

    @Option(names = "--forget", description = "Drops the id, because you know the outcome")
    private boolean forget;

    @Override
    public Integer call() throws Cli.Failed, IOException {
        try (RetryingClient client = client()) {
            if (pending) {
                return list(client);
            }
            if (forget) {
                return forget(client, required());
            }
            return url == null ? resume(client) : send(client, url);
        } catch (JournalException | KeyReused e) {
            throw new Cli.Failed(Cli.FAILED, String.valueOf(e.getMessage()));
        } catch (IdReused | IllegalArgumentException e) {
            throw new Cli.Failed(Cli.USAGE, String.valueOf(e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Cli.Failed(Cli.IN_DOUBT, "Interrupted. Run the same command again to go on.");
        }
    }

    private RetryingClient client() {
        RetryPolicy policy = RetryPolicy.builder()
                .deadline(Duration.ofSeconds(deadline))
                .attemptsMax(attempts)
                .build();
        Map<String, String> lines = headerLines();
        return RetryingClient.builder(FileJournal.open(journal))
                .policy(policy)
                .attemptHeaders(request -> lines)
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

    private int send(RetryingClient client, URI to) throws Cli.Failed, IOException, InterruptedException {
        String name = required();
        CallBody body = body();
        Map<String, String> lines = headerLines();
        if (body.length() > 0) {
            lines.putIfAbsent("Content-Type", "application/json");
        }
        return tell(client.send(name, new CallRequest(method, to, lines, body)));
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

    private int resume(RetryingClient client) throws Cli.Failed, InterruptedException {
        if (id != null) {
            return tell(client.resume(id));
        }
        if (!resume) {
            throw new Cli.Failed(Cli.USAGE, "A URL is missing; or use --resume, --pending or --help.");
        }
        int code = Cli.OK;
        for (CallResult result : client.resume().values()) {
            code = Math.max(code, tell(result));
        }
        return code;
    }

    private int list(RetryingClient client) {
        Table table = new Table("ID", "METHOD", "URL", "SINCE");
        for (JournaledCall call : client.pending()) {
            table.row(
                    call.id(),
                    call.request().method(),
                    call.request().uri(),
                    call.progress().createdAt());
        }
        table.print(out());
        out().flush();
        return Cli.OK;
    }

    private int forget(RetryingClient client, String name) throws Cli.Failed {
        if (!client.forget(name)) {
            throw new Cli.Failed(Cli.NOT_FOUND, "The journal has no " + name);
        }
        return Cli.OK;
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
                return Cli.FAILED;
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
