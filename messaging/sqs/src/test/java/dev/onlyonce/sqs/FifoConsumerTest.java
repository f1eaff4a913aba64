package dev.onlyonce.sqs;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.testkit.messages.ConsumedTopic;
import dev.onlyonce.testkit.messages.ConsumerContract;
import dev.onlyonce.testservers.PostgresServer;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;

@DisplayName("A consumer of a FIFO queue of SQS")
class FifoConsumerTest extends ConsumerContract {
    @Override
    protected ConsumedTopic topic() {
        return new SqsTopic(Broker.shared(), true);
    }

    @Override
    protected DataSource database() throws Exception {
        return Ledger.pool(PostgresServer.shared().createDatabase());
    }

    @Override
    protected Onlyonce open(DataSource source) {
        return Onlyonce.builder(SqlStore.open(source)).build();
    }
}
