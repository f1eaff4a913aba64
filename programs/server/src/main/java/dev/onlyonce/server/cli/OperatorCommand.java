package dev.onlyonce.server.cli;

import dev.onlyonce.http.admin.AdminOperator;
import dev.onlyonce.http.admin.Json;
import dev.onlyonce.sql.SchemaMode;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** A command that works on a gateway or a database. */
@Command(footerHeading = "%nExample:%n")
abstract class OperatorCommand extends PrintingCommand {
    @Mixin
    private OperatorConnection target = new OperatorConnection();

    @Override
    public final Integer call() throws Exception {
        try (AdminOperator operator = target.open(schema())) {
            run(operator);
            return Cli.OK;
        } catch (AdminOperator.Refused e) {
            throw new Cli.Failed(Cli.NOT_FOUND, String.valueOf(e.getMessage()));
        } catch (IllegalArgumentException e) {
            throw new Cli.Failed(Cli.USAGE, String.valueOf(e.getMessage()));
        } finally {
            out().flush();
        }
    }

    abstract void run(AdminOperator operator) throws Exception;

    /** A release changes no database whose tables it does not know. */
    SchemaMode schema() {
        return SchemaMode.VALIDATE;
    }

    /** Prints JSON if that was asked for, or a table. */
    <T> void print(T value, Consumer<T> table) {
        if (target.isJson()) {
            out().println(Json.pretty(value));
        } else {
            table.accept(value);
        }
    }
}
