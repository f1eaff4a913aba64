package dev.onlyonce.server.cli;

import dev.onlyonce.http.admin.AdminOperator;
import dev.onlyonce.http.admin.Count;
import dev.onlyonce.http.admin.Operations;
import dev.onlyonce.http.admin.Overview;
import dev.onlyonce.http.admin.Series;
import dev.onlyonce.http.admin.TopTenants;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The commands that look at a running node: they show what the first pages of the console show. */
final class LookCommands {
    private LookCommands() {}

    @Command(
            name = "overview",
            description = "Shows a node and its store at a glance.",
            footer = "  onlyonce overview --json")
    static final class Glance extends OperatorCommand {
        @Override
        void run(AdminOperator operator) {
            print(operator.overview(), overview -> {
                Table table = new Table("WHAT", "VALUE");
                mine(table, overview.mine());
                everybody(table, overview.everybody());
                table.print(out());
            });
        }

        private static void mine(Table table, Overview.Mine mine) {
            table.row("node", mine.node() + ", version " + mine.version());
            table.row("node up since", mine.startedAt());
            mine.perSecond().forEach((kind, rate) -> table.row("node " + kind + " a second", rate));
            mine.percentiles()
                    .forEach((part, ms) -> table.row(
                            "node " + (part.equals("handler") ? mine.handlerName() : part) + " p50/p95/p99 ms",
                            ms.p50() + "/" + ms.p95() + "/" + ms.p99()));
            table.row("node lapsed leases", mine.lapsedLeases());
        }

        private static void everybody(Table table, Overview.Everybody all) {
            Map<String, Count> states = all.states();
            if (states != null) {
                states.forEach((state, count) -> table.row("keys " + state, count));
            }
            waiting(table, "unknown", all.unknown());
            waiting(table, "dead letters", all.deadLetters());
            all.nodes().stream()
                    .filter(node -> !node.me())
                    .forEach(node -> table.row("node " + node.node(), about(node)));
            Overview.StoreView store = all.store();
            table.row("store", store.name() + (store.healthy() ? ", healthy" : ", NOT healthy: " + store.detail()));
            table.row("a failover can lose", store.failover());
            store.acceptedRisks().forEach(risk -> table.row("accepted risk", risk));
        }

        private static String about(Overview.NodeView node) {
            return "version " + node.version() + ", up since " + node.startedAt()
                    + (node.here() ? "" : ", NOT seen since " + node.seenAt());
        }

        private static void waiting(Table table, String what, Overview.@Nullable Waiting waiting) {
            if (waiting != null) {
                table.row(what, new Count(waiting.count(), waiting.kind()));
                table.row(what + ", the oldest since", waiting.oldestAt());
            }
        }
    }

    @Command(
            name = "series",
            description = "Shows a node's last hour in steps of ten seconds.",
            footer = "  onlyonce series --json")
    static final class LastHour extends OperatorCommand {
        @Option(
                names = "--since",
                paramLabel = "SECONDS",
                defaultValue = "0",
                description = "Only from this time on, in seconds since 1970")
        private long since;

        @Override
        void run(AdminOperator operator) {
            print(operator.series(since), series -> {
                Table table = new Table("FROM", "CREATED", "REPLAYED", "MISMATCHED", "UNKNOWN");
                for (int i = 0; i < size(series); i++) {
                    table.row(
                            Instant.ofEpochSecond(series.from() + (long) i * series.stepSeconds()),
                            at(series, "created", i),
                            at(series, "replayed", i),
                            at(series, "mismatched", i),
                            at(series, "unknown", i));
                }
                table.print(out());
            });
        }

        private static int size(Series series) {
            return series.kinds().getOrDefault("created", List.of()).size();
        }

        private static @Nullable Long at(Series series, String kind, int step) {
            List<Long> counts = series.kinds().getOrDefault(kind, List.of());
            return step < counts.size() ? counts.get(step) : null;
        }
    }

    @Command(
            name = "operations",
            description = "Lists operations with their policies, and what is not protected.",
            footer = "  onlyonce operations --json")
    static final class Protected extends OperatorCommand {
        @Override
        void run(AdminOperator operator) {
            print(operator.operations(), operations -> {
                Table table = new Table("OPERATION", "WAY", "PROFILE", "LOOK-UP", "POLICY");
                operations
                        .operations()
                        .forEach(it -> table.row(it.operation(), it.way(), it.profile(), it.reconciler(), policy(it)));
                table.print(out());
                unprotected(operations);
            });
        }

        private static String policy(Operations.OperationView operation) {
            return operation.policy().stream()
                    .map(named -> named.name() + " " + named.value())
                    .collect(Collectors.joining(", "));
        }

        private void unprotected(Operations operations) {
            if (operations.coverageRule() != null) {
                out().println();
                out().println(operations.coverageRule());
            }
            if (!operations.unprotected().isEmpty()) {
                Table table = new Table("NOT PROTECTED", "SEEN", "LAST", "WHY");
                operations.unprotected().forEach(it -> table.row(it.request(), it.count(), it.lastAt(), it.why()));
                table.print(out());
            }
        }
    }

    @Command(
            name = "tenants",
            description = "Lists the tenants that a node has most to do with.",
            footer = "  onlyonce tenants --limit 10")
    static final class Top extends OperatorCommand {
        @Option(names = "--limit", defaultValue = "20", description = "The most to list, up to 100 (${DEFAULT-VALUE})")
        private int limit = 20;

        @Override
        void run(AdminOperator operator) {
            print(operator.tenants(limit), this::print);
        }

        private void print(TopTenants tenants) {
            Table table = new Table("TENANT", "CREATED", "DUPLICATES", "MISUSE", "LIMITED", "KEYS");
            tenants.tenants()
                    .forEach(it -> table.row(
                            it.tenant(), it.created(), it.duplicates(), it.misuse(), it.limited(), it.liveKeys()));
            table.print(out());
            out().println("Counted: " + tenants.scope());
        }
    }
}
