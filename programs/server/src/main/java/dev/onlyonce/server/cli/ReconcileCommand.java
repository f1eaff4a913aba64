package dev.onlyonce.server.cli;

import dev.onlyonce.http.admin.AdminOperator;
import dev.onlyonce.http.admin.KeyView;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "reconcile",
        description = "Finds out the outcome of unknown keys.",
        subcommands = {ReconcileCommand.Backlog.class, ReconcileCommand.Run.class, ReconcileCommand.Resolve.class})
final class ReconcileCommand extends CommandGroup {
    /** Which of the unknown keys. */
    static final class Which {
        @Option(names = "--tenant", description = "Only of this tenant")
        private @Nullable String tenant;

        @Option(names = "--operation", description = "Only of this operation, e.g. \"POST /payments\"")
        private @Nullable String operation;

        @Option(
                names = "--older-than",
                paramLabel = "AGE",
                description = "First claimed at least this long ago, e.g. 10m")
        private @Nullable String olderThan;

        @Option(
                names = "--limit",
                defaultValue = "100",
                description = "The most to list, up to 1000 (${DEFAULT-VALUE})")
        private int limit = 100;

        AdminOperator.KeyFilter filter(@Nullable String after) {
            return new AdminOperator.KeyFilter(tenant, operation, null, olderThan, null, null, null, after, limit);
        }
    }

    @Command(
            name = "list",
            description = "Lists the keys whose outcome is unknown, and what their reconcilers said last.",
            footer = "  onlyonce reconcile list --limit 20")
    static final class Backlog extends OperatorCommand {
        @Mixin
        private Which which = new Which();

        @Option(names = "--after", paramLabel = "REF", description = "Continues where an earlier page ended")
        private @Nullable String after;

        @Override
        void run(AdminOperator operator) {
            print(operator.reconcileList(which.filter(after)), backlog -> {
                Table table =
                        new Table("TENANT", "KEY", "OPERATION", "ATTEMPT", "SINCE", "LOOK-UP", "LAST WORD", "NOTE");
                backlog.unknown()
                        .forEach(key -> table.row(
                                key.tenant(),
                                key.key(),
                                key.operation(),
                                key.attempt(),
                                key.settledAt(),
                                backlog.operationsWithLookUp().contains(key.operation()) ? "yes" : "no",
                                Table.cut(lastWord(key)),
                                Table.cut(note(key))));
                table.print(out());
                if (backlog.next() != null) {
                    out().println("More: --after " + backlog.next());
                }
            });
        }

        private static @Nullable String lastWord(KeyView key) {
            KeyView.Reconcile reconcile = key.reconcile();
            return reconcile == null ? null : reconcile.lastWord();
        }

        private static @Nullable String note(KeyView key) {
            KeyView.Change note =
                    key.reconcile() == null ? null : key.reconcile().note();
            return note == null ? null : note.who() + ": " + note.why();
        }
    }

    @Command(
            name = "run",
            description =
                    "Makes the gateway ask about all of them now, or about one, by the look-ups that are configured.",
            footerHeading = "%nExamples:%n",
            footer = {"  onlyonce reconcile run --json", "  onlyonce reconcile run order-1 --tenant acme"})
    static final class Run extends OperatorCommand {
        @Parameters(paramLabel = "KEY", arity = "0..1", description = "Only about this key")
        private @Nullable String key;

        @Option(names = "--tenant", defaultValue = "default", description = "Whose key it is (${DEFAULT-VALUE})")
        private String tenant = "default";

        @Option(names = "--operation", description = "Only for keys that are unique in their operation")
        private @Nullable String operation;

        @Override
        void run(AdminOperator operator) {
            AdminOperator.KeyName name = key == null ? null : new AdminOperator.KeyName(tenant, key, operation);
            print(operator.reconcileRun(name), run -> {
                out().println("Asked about " + run.asked() + ": " + run.found() + " found, " + run.absent()
                        + " absent, " + run.undecided() + " undecided.");
                if (run.withoutLookUp() > 0) {
                    out().println(run.withoutLookUp()
                            + " more have no look-up: add one to their operations in the gateway's configuration, or"
                            + " decide each with: onlyonce keys resolve");
                }
            });
        }
    }

    @Command(
            name = "resolve",
            description =
                    "Records one outcome for all unknown keys that fit. Lists them and changes nothing unless --yes is"
                            + " given.",
            footerHeading = "%nExamples:%n",
            footer = {
                "  onlyonce reconcile resolve --tenant acme --absent --reason \"the bank has none of them\"",
                "  onlyonce reconcile resolve --tenant acme --absent --reason \"the bank has none of them\" --yes"
            })
    static final class Resolve extends OperatorCommand {
        private static final int BATCH = 100;

        @Mixin
        private Which which = new Which();

        @ArgGroup(multiplicity = "1")
        private KeysCommand.Resolve.Outcome outcome = new KeysCommand.Resolve.Outcome();

        @Option(names = "--reason", required = true, description = "Why, for the audit")
        private String reason = "";

        @Option(names = "--yes", description = "Records it; without this, only shows which keys it would be")
        private boolean yes;

        /** What came of it, or would. */
        record Report(boolean recorded, List<KeyView> keys, List<AdminOperator.Resolved.One> results) {}

        @Override
        void run(AdminOperator operator) throws Cli.Failed {
            List<KeyView> keys = operator.reconcileList(which.filter(null)).unknown();
            List<AdminOperator.Resolved.One> results = yes ? resolve(operator, keys) : List.of();
            long failed = results.stream().filter(it -> !it.done()).count();
            print(new Report(yes, keys, results), report -> {
                Table table = new Table("TENANT", "KEY", "OPERATION", "ATTEMPT", "RESULT");
                for (int i = 0; i < keys.size(); i++) {
                    KeyView key = keys.get(i);
                    table.row(
                            key.tenant(),
                            key.key(),
                            key.operation(),
                            key.attempt(),
                            yes
                                    ? Objects.requireNonNullElse(results.get(i).detail(), "recorded")
                                    : "would be recorded");
                }
                table.print(out());
                out().println(
                                yes
                                        ? (keys.size() - failed) + " recorded as " + outcome.word() + ", " + failed
                                                + " not."
                                        : keys.size() + " would be recorded as " + outcome.word()
                                                + ". Add --yes to do it.");
            });
            if (failed > 0) {
                throw new Cli.Failed(Cli.NOT_FOUND, failed + " could not be recorded");
            }
        }

        private List<AdminOperator.Resolved.One> resolve(AdminOperator operator, List<KeyView> keys) {
            List<AdminOperator.Resolved.One> results = new ArrayList<>();
            AdminOperator.Finding finding = new AdminOperator.Finding(outcome.word(), null, reason, null);
            for (int i = 0; i < keys.size(); i += BATCH) {
                List<AdminOperator.AtAttempt> batch = keys.subList(i, Math.min(keys.size(), i + BATCH)).stream()
                        .map(key -> new AdminOperator.AtAttempt(null, null, null, key.ref(), key.attempt()))
                        .toList();
                results.addAll(operator.reconcileResolve(batch, finding).results());
            }
            return results;
        }
    }
}
