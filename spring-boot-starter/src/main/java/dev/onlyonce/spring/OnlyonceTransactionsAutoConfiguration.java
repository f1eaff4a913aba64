package dev.onlyonce.spring;

import dev.onlyonce.Listener;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.transactions.Transactions;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Time;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.transaction.PlatformTransactionManager;

/** The transactional way, if entries are in the application's database and that has one transaction manager. */
@AutoConfiguration(
        after = OnlyonceAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration",
            "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
            "org.springframework.boot.autoconfigure.jdbc.DataSourceTransactionManagerAutoConfiguration",
            "org.springframework.boot.autoconfigure.orm.jpa.HibernateJpaAutoConfiguration"
        })
@ConditionalOnBean(Store.class)
@ConditionalOnSingleCandidate(PlatformTransactionManager.class)
public class OnlyonceTransactionsAutoConfiguration {

    /** None if the entries are elsewhere. */
    @Bean
    @Nullable
    TransactionalWay onlyonceTransactionalWay(
            OnlyonceProperties properties,
            Store store,
            Onlyonce once,
            PlatformTransactionManager manager,
            ObjectProvider<DataSource> dataSources,
            BeanFactory beans,
            ObjectProvider<Listener> listeners,
            Time time) {
        DataSource dataSource = dataSources.getIfUnique();
        return store instanceof SqlStore sql
                        && dataSource != null
                        && properties.store().sqlite() == null
                        && sql.isIn(dataSource)
                ? new TransactionalWay(
                        manager,
                        dataSource,
                        Transactions.of(once),
                        beans,
                        listeners.orderedStream().toList(),
                        new Admission(time, properties.store().waitMax()))
                : null;
    }
}
