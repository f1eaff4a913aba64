package dev.onlyonce.kafka;

import dev.onlyonce.messages.MessageId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/** A consumer in a process of its own, to be killed. */
final class ConsumerProcess {
    private ConsumerProcess() {}

    static Process start(Broker broker, String topic, Ledger ledger) {
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
                            broker.server.address(),
                            topic,
                            ledger.url()))
                    .inheritIO()
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", args[0]);
        config.put("group.id", "crash");
        config.put("session.timeout.ms", 2000);
        config.put("heartbeat.interval.ms", 300);
        config.put("max.poll.records", 100);
        Ledger ledger = new Ledger(args[2]);
        KafkaInbox inbox = KafkaInbox.builder(ledger.once, config, Ledger::text)
                .topics(args[1])
                .id(MessageId.header("message-id"))
                .transactional((transaction, body, message) -> Ledger.write(transaction, body));
        inbox.start();
        // Until it is killed.
        new CountDownLatch(1).await();
    }
}
