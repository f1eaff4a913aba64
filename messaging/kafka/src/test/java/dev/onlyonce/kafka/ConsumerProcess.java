package dev.onlyonce.kafka;

import dev.onlyonce.messages.MessageId;
import dev.onlyonce.testservers.JavaProcess;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/** A consumer in a process of its own, to be killed. */
final class ConsumerProcess {
    private ConsumerProcess() {}

    static Process start(Broker broker, String topic, Ledger ledger) {
        return JavaProcess.start(ConsumerProcess.class, broker.server.address(), topic, ledger.url());
    }

    public static void main(String[] args) throws IOException {
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
        JavaProcess.runUntilKilled();
    }
}
