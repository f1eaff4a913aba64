package dev.onlyonce.server.cli;

import dev.onlyonce.http.admin.AdminOperator;
import dev.onlyonce.sql.SchemaMode;
import dev.onlyonce.sql.schema.Schema;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "schema",
        description = "Prints, applies and checks the database's tables.",
        subcommands = {SchemaCommand.Print.class, SchemaCommand.Apply.class, SchemaCommand.Status.class})
final class SchemaCommand extends CommandGroup {
    @Command(
            name = "print",
            description = "Prints the whole schema as a script, or the statements that are sent.",
            footerHeading = "%nExample:%n",
            footer = "  onlyonce schema print postgresql | psql onlyonce")
    static final class Print extends PrintingCommand {
        private enum Kind {
            POSTGRESQL,
            MYSQL,
            SQLITE,
            H2
        }

        @Parameters(paramLabel = "DATABASE", description = "postgresql, mysql, sqlite or h2")
        private Kind database = Kind.POSTGRESQL;

        @Option(names = "--statements", description = "Prints the statements on entries as they are sent instead")
        private boolean statements;

        @Override
        public Integer call() {
            String kind = database.name().toLowerCase(Locale.ROOT);
            out().print(statements ? Schema.statements(kind) : Schema.script(kind));
            out().flush();
            return Cli.OK;
        }
    }

    @Command(
            name = "apply",
            description = "Creates or upgrades the tables.",
            footer = "  onlyonce schema apply --db jdbc:postgresql://127.0.0.1/onlyonce?user=owner")
    static final class Apply extends OperatorCommand {
        @Override
        SchemaMode schema() {
            return SchemaMode.CREATE;
        }

        @Override
        void run(AdminOperator operator) {
            print(operator.schemaApply(), view -> out().println(sentence(view)));
        }
    }

    @Command(
            name = "status",
            description = "Says whether the tables are those that this release needs.",
            footer = "  onlyonce schema status --db jdbc:postgresql://127.0.0.1/onlyonce?user=app")
    static final class Status extends OperatorCommand {
        @Override
        SchemaMode schema() {
            return SchemaMode.LEAVE;
        }

        @Override
        void run(AdminOperator operator) throws Cli.Failed {
            AdminOperator.SchemaView status = operator.schemaStatus();
            print(status, view -> out().println(sentence(view)));
            if (!status.current()) {
                throw new Cli.Failed(
                        Cli.FAILED,
                        status.installed() > status.known()
                                ? "The schema is newer than this release; upgrade Onlyonce on this node"
                                : "The schema is not current; run: onlyonce schema apply");
            }
        }
    }

    private static String sentence(AdminOperator.SchemaView view) {
        return view.database() + ": version " + view.installed() + " is installed, this release needs " + view.known();
    }
}
