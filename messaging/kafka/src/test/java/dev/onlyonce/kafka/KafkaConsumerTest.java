package dev.onlyonce.kafka;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.testkit.messages.ConsumedTopic;
import dev.onlyonce.testkit.messages.ConsumerContract;
import dev.onlyonce.testservers.PostgresServer;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;

@Order(1)
@DisplayName("A consumer of Kafka")
class KafkaConsumerTest extends ConsumerContract {
    @Override
    protected ConsumedTopic topic() throws Exception {
        return new KafkaTopic(Broker.shared());
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
