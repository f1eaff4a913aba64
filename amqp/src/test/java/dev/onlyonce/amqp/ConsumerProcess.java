package dev.onlyonce.amqp;

import dev.onlyonce.messages.MessageId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** A consumer in a process of its own, to be killed. It consumes each queue while nobody else does. */
final class ConsumerProcess {
    private ConsumerProcess() {}

    static Process start(Broker broker, List<String> queues, Ledger ledger) {
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                "-cp",
                classPath,
                ConsumerProcess.class.getName(),
                String.valueOf(broker.port()),
                ledger.url(),
                String.valueOf(broker.isOrderedByConsumers())));
        command.addAll(queues);
        try {
            return new ProcessBuilder(command).inheritIO().start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Ledger ledger = new Ledger(args[1]);
        for (int i = 3; i < args.length; i++) {
            AmqpInbox.Builder<String> builder =
                    AmqpInbox.builder(ledger.once, Broker.factory(Integer.parseInt(args[0])), Ledger::text);
            if (Boolean.parseBoolean(args[2])) {
                builder.exclusive();
            }
            builder.queue(args[i])
                    .group("crash")
                    .id(MessageId.header("message-id"))
                    .orderBy("key")
                    .prefetch(100)
                    .transactional((transaction, body, message) -> Ledger.write(transaction, body))
                    .start();
        }
        // Until it is killed.
        new CountDownLatch(1).await();
    }
}
