package dev.onlyonce.amqp;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.testkit.messages.ConsumedTopic;
import dev.onlyonce.testkit.messages.ConsumerContract;
import dev.onlyonce.testservers.PostgresServer;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;

@DisplayName("The AMQP consumer by contract")
class AmqpConsumerTest extends ConsumerContract {
    /** The broker of these tests. */
    Broker broker() {
        return Broker.qpid();
    }

    @Override
    protected ConsumedTopic topic() {
        return new AmqpTopic(broker());
    }

    @Override
    protected DataSource database() {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(PostgresServer.shared().createDatabase());
        config.setMaximumPoolSize(8);
        return new HikariDataSource(config);
    }

    @Override
    protected Onlyonce open(DataSource source) {
        return Onlyonce.builder(SqlStore.open(source)).build();
    }
}
