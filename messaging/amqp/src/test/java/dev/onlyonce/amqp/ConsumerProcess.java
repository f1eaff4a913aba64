package dev.onlyonce.amqp;

import dev.onlyonce.messages.MessageId;
import dev.onlyonce.testservers.JavaProcess;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** A consumer in a process of its own, to be killed. It consumes each queue while nobody else does. */
final class ConsumerProcess {
    private ConsumerProcess() {}

    static Process start(Broker broker, List<String> queues, Ledger ledger) {
        List<String> arguments = new ArrayList<>(
                List.of(String.valueOf(broker.port()), ledger.url(), String.valueOf(broker.isOrderedByConsumers())));
        arguments.addAll(queues);
        return JavaProcess.start(ConsumerProcess.class, arguments.toArray(String[]::new));
    }

    public static void main(String[] args) throws IOException {
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
        JavaProcess.runUntilKilled();
    }
}
