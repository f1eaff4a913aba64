package dev.onlyonce.spring.transactions;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.Registry;
import dev.onlyonce.spring.OnlyonceProperties;
import dev.onlyonce.spring.store.OnlyonceAutoConfiguration;
import dev.onlyonce.sql.SqlStore;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.transaction.PlatformTransactionManager;

/** Transactions that hold entries, if entries are in the application's database and that has one transaction manager. */
@AutoConfiguration(
        after = OnlyonceAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration",
            "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
            "org.springframework.boot.autoconfigure.jdbc.DataSourceTransactionManagerAutoConfiguration",
            "org.springframework.boot.autoconfigure.orm.jpa.HibernateJpaAutoConfiguration"
        })
@ConditionalOnBean(Onlyonce.class)
public class OnlyonceTransactionsAutoConfiguration {

    /** None if the entries are elsewhere. */
    @Bean
    @Nullable
    @ConditionalOnSingleCandidate(PlatformTransactionManager.class)
    EntryTransactions onlyonceEntryTransactions(
            OnlyonceProperties properties,
            Onlyonce once,
            PlatformTransactionManager manager,
            ObjectProvider<DataSource> dataSources) {
        DataSource dataSource = dataSources.getIfUnique();
        Registry registry = once.registry();
        return registry.store() instanceof SqlStore sql
                        && dataSource != null
                        && properties.store().sqlite() == null
                        && sql.isIn(dataSource)
                ? new EntryTransactions(
                        manager,
                        dataSource,
                        registry,
                        new EntryTransactions.Guards(
                                new Admission(
                                        registry.time(), properties.store().waitMax()),
                                new DeferredConstraints(dataSource, registry.time())))
                : null;
    }

    @Bean
    @Nullable
    @ConditionalOnSingleCandidate(PlatformTransactionManager.class)
    TransactionalWay onlyonceTransactionalWay(ObjectProvider<EntryTransactions> transactions, Onlyonce once) {
        EntryTransactions available = transactions.getIfAvailable();
        return available == null ? null : new TransactionalWay(available, once);
    }

    /** Methods that are transactional and still run leased. */
    @Bean
    Downgrades onlyonceDowngrades() {
        return new Downgrades();
    }

    @Bean
    SteppedWay onlyonceSteppedWay(Onlyonce once) {
        return new SteppedWay(once);
    }

    /** How annotated operations run, and which of them the engine knows. */
    @Bean
    KnownOperations onlyonceKnownOperations(
            Onlyonce once,
            ObjectProvider<EntryTransactions> transactions,
            SteppedWay stepped,
            BeanFactory beans,
            Downgrades downgrades) {
        return new KnownOperations(once, new WaySelector(transactions, stepped, beans), downgrades);
    }
}
