package dev.onlyonce.sqs;

import dev.onlyonce.messages.MessageId;
import dev.onlyonce.testservers.JavaProcess;
import java.io.IOException;
import java.time.Duration;

/** A consumer in a process of its own, to be killed. */
final class ConsumerProcess {
    private ConsumerProcess() {}

    static Process start(Broker broker, String queue, Ledger ledger) {
        return JavaProcess.start(ConsumerProcess.class, broker.server.endpoint(), queue, ledger.url());
    }

    public static void main(String[] args) throws IOException {
        Ledger ledger = new Ledger(args[2]);
        SqsInbox inbox = SqsInbox.builder(ledger.once, Broker.client(args[0]), Ledger::text)
                .queue(args[1])
                .longPoll(Duration.ofSeconds(1))
                // What a killed consumer has is delivered again after this time.
                .visibility(Duration.ofSeconds(2))
                .id(MessageId.header("message-id"))
                .transactional((transaction, body, message) -> Ledger.write(transaction, body));
        inbox.start();
        JavaProcess.runUntilKilled();
    }
}
