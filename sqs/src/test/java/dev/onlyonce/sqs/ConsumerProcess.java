package dev.onlyonce.sqs;

import dev.onlyonce.messages.MessageId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** A consumer in a process of its own, to be killed. */
final class ConsumerProcess {
    private ConsumerProcess() {}

    static Process start(Broker broker, String queue, Ledger ledger) {
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        try {
            return new ProcessBuilder(List.of(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-Xmx128m",
                            "-XX:+UseSerialGC",
                            "-XX:TieredStopAtLevel=1",
                            "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                            "-cp",
                            classPath,
                            ConsumerProcess.class.getName(),
                            broker.server.endpoint(),
                            queue,
                            ledger.url()))
                    .inheritIO()
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Ledger ledger = new Ledger(args[2]);
        SqsInbox inbox = SqsInbox.builder(ledger.once, Broker.client(args[0]), Ledger::text)
                .queue(args[1])
                .longPoll(Duration.ofSeconds(1))
                // What a killed consumer has is delivered again after this time.
                .visibility(Duration.ofSeconds(2))
                .id(MessageId.header("message-id"))
                .transactional((transaction, body, message) -> Ledger.write(transaction, body));
        inbox.start();
        // Until it is killed.
        new CountDownLatch(1).await();
    }
}
