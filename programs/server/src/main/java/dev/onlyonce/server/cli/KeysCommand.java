package dev.onlyonce.server.cli;

import dev.onlyonce.http.admin.AdminOperator;
import dev.onlyonce.http.admin.KeyView;
import dev.onlyonce.http.admin.Matching;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "keys",
        description = "Lists, shows, settles and evicts keys.",
        subcommands = {
            KeysCommand.ListKeys.class,
            KeysCommand.Show.class,
            KeysCommand.History.class,
            KeysCommand.Match.class,
            KeysCommand.Resolve.class,
            KeysCommand.Note.class,
            KeysCommand.Evict.class
        })
final class KeysCommand extends CommandGroup {
    /** Which key. */
    static final class Name {
        @Parameters(paramLabel = "KEY", description = "The client's Idempotency-Key")
        private String key = "";

        @Option(names = "--tenant", defaultValue = "default", description = "Whose key it is (${DEFAULT-VALUE})")
        private String tenant = "default";

        @Option(names = "--operation", description = "Only for keys that are unique in their operation")
        private @Nullable String operation;

        AdminOperator.KeyName name() {
            return new AdminOperator.KeyName(tenant, key, operation);
        }
    }

    @Command(
            name = "list",
            description = "Lists keys in the order of tenant and key.",
            footerHeading = "%nExamples:%n",
            footer = {
                "  onlyonce keys list --state unknown --older-than 10m",
                "  onlyonce keys list --tenant acme --limit 20 --json"
            })
    static final class ListKeys extends OperatorCommand {
        @Option(names = "--tenant", description = "Only of this tenant")
        private @Nullable String tenant;

        @Option(names = "--operation", description = "Only of this operation, e.g. \"POST /payments\"")
        private @Nullable String operation;

        @Option(
                names = "--state",
                description = "pending, processing, completed, failed, retryable, unknown or expired")
        private @Nullable String state;

        @Option(
                names = "--older-than",
                paramLabel = "AGE",
                description = "First claimed at least this long ago, e.g. 10m")
        private @Nullable String olderThan;

        @Option(names = "--newer-than", paramLabel = "AGE", description = "First claimed at most this long ago")
        private @Nullable String newerThan;

        @Option(names = "--node", description = "Last claimed by this node")
        private @Nullable String node;

        @Option(names = "--prefix", description = "With this beginning; needs --tenant")
        private @Nullable String prefix;

        @Option(names = "--after", paramLabel = "REF", description = "Continues where an earlier page ended")
        private @Nullable String after;

        @Option(
                names = "--limit",
                defaultValue = "100",
                description = "The most to list, up to 1000 (${DEFAULT-VALUE})")
        private int limit = 100;

        @Override
        void run(AdminOperator operator) {
            print(page(operator), it -> {
                Table table = new Table("TENANT", "KEY", "STATE", "ATTEMPT", "OPERATION", "TARGET", "CREATED");
                it.keys()
                        .forEach(key -> table.row(
                                key.tenant(),
                                key.key(),
                                key.state(),
                                key.attempt(),
                                key.operation(),
                                Table.cut(target(key)),
                                key.createdAt()));
                table.print(out());
                if (it.next() != null) {
                    out().println("More: --after " + it.next());
                }
            });
        }

        /** A page may end before it is full: then the search goes on. */
        private AdminOperator.Page page(AdminOperator operator) {
            AdminOperator.KeyFilter filter = new AdminOperator.KeyFilter(
                    tenant, operation, state, olderThan, newerThan, node, prefix, after, limit);
            AdminOperator.Page page = operator.keys(filter);
            List<KeyView> keys = new ArrayList<>(page.keys());
            while (page.next() != null && keys.size() < limit) {
                page = operator.keys(filter.after(page.next(), limit - keys.size()));
                keys.addAll(page.keys());
            }
            return new AdminOperator.Page(keys, page.next(), page.now(), null);
        }
    }

    @Command(
            name = "match",
            description = "Tells whether a request would match the one that the key was used for.",
            footer = "  onlyonce keys match order-1 --target /payments --body request.json")
    static final class Match extends OperatorCommand {
        @Mixin
        private Name name = new Name();

        @Option(names = "--method", defaultValue = "POST", description = "The request's method (${DEFAULT-VALUE})")
        private String method = "POST";

        @Option(names = "--target", required = true, paramLabel = "PATH", description = "Its path and query")
        private String target = "";

        @Option(
                names = "--header",
                paramLabel = "NAME=VALUE",
                description = "A header; may be repeated. Content-Type is application/json unless given")
        private Map<String, String> headers = new LinkedHashMap<>();

        @Option(names = "--body", paramLabel = "FILE", description = "Its body")
        private @Nullable Path body;

        @Override
        void run(AdminOperator operator) {
            Map<String, String> all = new LinkedHashMap<>(headers);
            if (body != null && all.keySet().stream().noneMatch("Content-Type"::equalsIgnoreCase)) {
                all.put("Content-Type", "application/json");
            }
            Matching.Sample sample = new Matching.Sample(method, target, all, body == null ? null : text(body));
            print(operator.match(name.name(), sample), matching -> {
                out().println(matching.summary());
                matching.parts().forEach(part -> out().println("- " + part.part() + ": " + part.detail()));
            });
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new IllegalArgumentException(file + " cannot be read as text in UTF-8: " + e, e);
        }
    }

    /** None if it says no more than the operation's name. */
    private static @Nullable String target(KeyView key) {
        return key.operation().equals(key.target()) ? null : key.target();
    }

    @Command(
            name = "show",
            description = "Shows a key, its recorded response and its history.",
            footer = "  onlyonce keys show order-1 --tenant acme")
    static final class Show extends OperatorCommand {
        @Mixin
        private Name name = new Name();

        @Override
        void run(AdminOperator operator) {
            KeyView key = operator.key(name.name())
                    .orElseThrow(() -> new AdminOperator.Refused(true, "There is no such key of this tenant"));
            print(key, this::print);
        }

        private void print(KeyView key) {
            Table table = new Table("FIELD", "VALUE");
            table.row("tenant", key.tenant());
            table.row("key", key.key());
            table.row("operation", key.operation());
            table.row("target", key.target());
            table.row("scope", key.scope());
            table.row("state", key.state());
            table.row("attempt", key.attempt());
            table.row("owner", key.owner());
            table.row("created", key.createdAt());
            table.row("lease until", key.leaseUntil());
            table.row("settled", key.settledAt());
            table.row("expires", key.expiresAt());
            KeyView.ResponseView response = key.response();
            if (response != null) {
                table.row("status", response.status());
                response.headers().forEach((name, values) -> table.row(name, String.join(", ", values)));
                table.row("body", body(response));
            }
            table.print(out());
            if (key.history() != null) {
                out().println();
                changes(key.history()).print(out());
            }
        }
    }

    private static String body(KeyView.ResponseView response) {
        if (response.body() != null) {
            return response.body();
        }
        return response.hidden() == null
                ? Objects.requireNonNullElse(response.bodyBase64(), "(not stored)")
                : response.hidden();
    }

    private static Table changes(List<KeyView.Change> changes) {
        Table table = new Table("AT", "ATTEMPT", "FROM", "TO", "WHO", "WHY");
        changes.forEach(c -> table.row(c.at(), c.attempt(), c.from(), c.to(), c.who(), c.why()));
        return table;
    }

    @Command(
            name = "history",
            description = "Shows who changed a key's state, when and why; also of a key that is gone.",
            footer = "  onlyonce keys history order-1 --tenant acme")
    static final class History extends OperatorCommand {
        @Mixin
        private Name name = new Name();

        @Override
        void run(AdminOperator operator) {
            AdminOperator.History history = operator.history(name.name());
            if (history.changes().isEmpty()) {
                throw new AdminOperator.Refused(true, "The audit has nothing about such a key of this tenant");
            }
            print(history, it -> changes(it.changes()).print(out()));
        }
    }

    @Command(
            name = "resolve",
            description = "Records what happened to a key whose outcome is unknown.",
            footerHeading = "%nExamples:%n",
            footer = {
                "  onlyonce keys resolve order-1 --found --status 201 --body answer.json --reason \"seen at the bank\"",
                "  onlyonce keys resolve order-1 --absent --attempt 1 --reason \"the bank has no such payment\""
            })
    static final class Resolve extends OperatorCommand {
        @Mixin
        private Name name = new Name();

        @ArgGroup(multiplicity = "1")
        private Outcome outcome = new Outcome();

        static final class Outcome {
            @Option(
                    names = "--found",
                    description = "The effect happened: retries get the response, nothing runs again")
            private boolean found;

            @Option(
                    names = "--absent",
                    description =
                            "It is proven that it did not happen, and that no request on its way and no paused node"
                                    + " can make it happen: the next retry runs")
            private boolean absent;

            String word() {
                return found && !absent ? "found" : "absent";
            }
        }

        @Option(names = "--status", description = "With --found: the status that retries get")
        private @Nullable Integer status;

        @Option(names = "--body", paramLabel = "FILE", description = "With --status: the body that retries get")
        private @Nullable Path body;

        @Option(
                names = "--content-type",
                defaultValue = "application/json",
                description = "With --body: its type (${DEFAULT-VALUE})")
        private String contentType = "application/json";

        @Option(
                names = "--header",
                paramLabel = "NAME=VALUE",
                description = "With --status: another header that retries get; may be repeated")
        private Map<String, String> headers = new LinkedHashMap<>();

        @Option(
                names = "--attempt",
                paramLabel = "NUMBER",
                description = "Which attempt this is about, as shown by keys show; needed with --absent")
        private @Nullable Integer attempt;

        @Option(names = "--reason", required = true, description = "Why, for the audit")
        private String reason = "";

        @Override
        void run(AdminOperator operator) {
            KeyView settled =
                    operator.resolve(name.name(), new AdminOperator.Finding(outcome.word(), answer(), reason, attempt));
            print(settled, key -> out().println("The key is now " + key.state() + "."));
        }

        private AdminOperator.@Nullable Answer answer() {
            if (status == null) {
                if (body != null || !headers.isEmpty()) {
                    throw new IllegalArgumentException("--body and --header need --status");
                }
                return null;
            }
            Map<String, String> all = new LinkedHashMap<>();
            if (body != null) {
                all.put("Content-Type", contentType);
            }
            all.putAll(headers);
            return new AdminOperator.Answer(status, all, body == null ? null : text(body));
        }
    }

    @Command(
            name = "note",
            description = "Writes a note into the history of an unknown key, for those who look next.",
            footer = "  onlyonce keys note order-1 --tenant acme --text \"asked the bank, ticket 12\"")
    static final class Note extends OperatorCommand {
        @Mixin
        private Name name = new Name();

        @Option(names = "--text", required = true, description = "The note")
        private String text = "";

        @Override
        void run(AdminOperator operator) {
            print(operator.note(name.name(), text), key -> out().println("The note is in the key's history."));
        }
    }

    @Command(
            name = "evict",
            description = "Forgets a settled key: the next request with it runs as new.",
            footer = "  onlyonce keys evict order-1 --tenant acme --reason \"the answer was wrong, ticket 12\"")
    static final class Evict extends OperatorCommand {
        @Mixin
        private Name name = new Name();

        @Option(names = "--reason", required = true, description = "Why, for the audit")
        private String reason = "";

        @Override
        void run(AdminOperator operator) {
            operator.evict(name.name(), reason);
            print(Map.of("evicted", true), done -> out().println("The key is forgotten."));
        }
    }
}
