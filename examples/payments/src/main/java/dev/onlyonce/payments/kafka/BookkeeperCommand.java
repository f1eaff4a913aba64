package dev.onlyonce.payments.kafka;

import static java.util.Objects.requireNonNull;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.payments.books.Bookkeeping;
import dev.onlyonce.payments.cli.CannotRun;
import dev.onlyonce.payments.cli.DatabaseUrl;
import dev.onlyonce.payments.db.DataSources;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.db.Dialect;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.store.Time;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Keeps books in a process of its own, until it is stopped or killed. */
@Command(
        name = "bookkeeper",
        description = "Posts the payments' events from Kafka to the books. Any number of them share the work.",
        mixinStandardHelpOptions = true)
public final class BookkeeperCommand implements Callable<Integer> {
    @Spec
    private @Nullable CommandSpec spec;

    @Option(
            names = "--db",
            required = true,
            paramLabel = "JDBC-URL",
            description = "The payments' database, which has the books, with user and password.")
    private String db = "";

    @Option(names = "--broker", required = true, paramLabel = "HOST:PORT", description = "Where Kafka is.")
    private String broker = "";

    @Option(
            names = "--name",
            paramLabel = "NAME",
            description = "Unique among the bookkeepers: one that is killed and started again finds its work at once.")
    private @Nullable String name;

    @Override
    public Integer call() throws InterruptedException {
        DatabaseUrl.checkAnswers(db);
        CannotRun.unlessBroker("--broker", broker);
        HikariDataSource source = DataSources.open(db);
        Database database = new Database(source, Dialect.of(db));
        database.createTables();
        Onlyonce once = Onlyonce.builder(SqlStore.open(source)).build();
        Time time = once.registry().time();
        Bookkeeper bookkeeper =
                new Bookkeeper(once, new Bookkeeper.Broker(broker, name), database, new Bookkeeping(time::now));
        CountDownLatch ended = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            bookkeeper.close();
            once.close();
            source.close();
            ended.countDown();
        }));
        PrintWriter out = requireNonNull(spec).commandLine().getOut();
        out.println("Bookkeeping of the events at " + broker);
        out.flush();
        ended.await();
        return 0;
    }
}
