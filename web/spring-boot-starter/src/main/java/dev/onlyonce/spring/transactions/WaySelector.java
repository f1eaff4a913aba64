package dev.onlyonce.spring.transactions;

import dev.onlyonce.Way;
import dev.onlyonce.spring.Idempotent;
import dev.onlyonce.spring.operations.ChosenWay;
import dev.onlyonce.spring.operations.InvalidSettings;
import java.lang.reflect.Method;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.support.DefaultTransactionDefinition;

/** Decides in which way, and in which transaction, an {@link Idempotent} method runs. Refuses annotations that cannot work. */
final class WaySelector {
    /** Like Spring's own, which looks at methods that are not public too. */
    private static final AnnotationTransactionAttributeSource ATTRIBUTES =
            new AnnotationTransactionAttributeSource(false);

    private static final String ELSEWHERE =
            "the entries are not in the application's database, or it has no single transaction manager";
    private static final String MOVE_ENTRIES =
            "Keep the entries in the application's DataSource (no onlyonce.store.sqlite, no"
                    + " Store bean of another kind), or use way = LEASED.";

    private final ObjectProvider<EntryTransactions> transactions;
    private final SteppedWay stepped;
    private final BeanFactory beans;

    WaySelector(ObjectProvider<EntryTransactions> transactions, SteppedWay stepped, BeanFactory beans) {
        this.transactions = transactions;
        this.stepped = stepped;
        this.beans = beans;
    }

    /** The way of a method; throws {@link InvalidSettings}. */
    ChosenWay choose(Idempotent annotation, Method method, Class<?> type) {
        String name = type.getSimpleName() + "." + method.getName();
        Optional<Way> asked = asked(annotation, name);
        TransactionAttribute attribute = ATTRIBUTES.getTransactionAttribute(method, type);
        if (asked.isEmpty()) {
            return attribute != null && isTaken(attribute)
                    ? new ChosenWay(Way.TRANSACTIONAL, Optional.of(attribute))
                    : ChosenWay.leased();
        }
        return switch (asked.get()) {
            case STEPPED -> stepped(name, attribute);
            case TRANSACTIONAL, QUEUED -> {
                checkTransaction(name, attribute);
                yield new ChosenWay(
                        asked.get(),
                        Optional.of(
                                attribute != null && isTaken(attribute)
                                        ? attribute
                                        : new DefaultTransactionDefinition()));
            }
            default -> ChosenWay.leased();
        };
    }

    private static Optional<Way> asked(Idempotent annotation, String name) {
        Way[] ways = annotation.way();
        if (ways.length > 1) {
            throw new InvalidSettings(
                    name + " is @Idempotent with " + ways.length + " ways, but an operation has one",
                    "Leave one of them, or none to let @Transactional decide.",
                    null);
        }
        if (ways.length == 1 && ways[0] == Way.INBOX) {
            throw new InvalidSettings(
                    name + " is @Idempotent with way = INBOX, but an inbox takes messages and not calls",
                    "Use Inbox in the method, or another way.",
                    null);
        }
        return ways.length == 0 ? Optional.empty() : Optional.of(ways[0]);
    }

    private ChosenWay stepped(String name, @Nullable TransactionAttribute attribute) {
        if (!stepped.isPossible()) {
            throw new InvalidSettings(
                    name + " is to run in steps, but the entries are not in an SQL database, which records the steps",
                    "Keep the entries in a DataSource or a SQLite file (no Store bean of another kind), or use way = LEASED.",
                    null);
        }
        if (attribute != null) {
            throw new InvalidSettings(
                    name + " is to run in steps, which commit one by one, but it is @Transactional as a whole",
                    "Remove @Transactional there; what a local step writes has a transaction already.",
                    null);
        }
        return new ChosenWay(Way.STEPPED, Optional.empty());
    }

    private void checkTransaction(String name, @Nullable TransactionAttribute attribute) {
        if (transactions.getIfAvailable() == null) {
            throw new InvalidSettings(
                    name + " is to run in one transaction with its entry, but " + ELSEWHERE, MOVE_ENTRIES, null);
        }
        if (attribute != null && attribute.isReadOnly()) {
            throw new InvalidSettings(
                    name + " is to run in one transaction with its entry, which is written, but its @Transactional is"
                            + " read-only",
                    "Remove readOnly there if it changes something, or @Idempotent if it does not.",
                    null);
        }
        if (attribute != null && !joins(attribute)) {
            throw new InvalidSettings(
                    name
                            + " is to run in one transaction with its entry, but its @Transactional wants one of its own, or"
                            + " another transaction manager",
                    "Use @Transactional without propagation and manager there, or way = LEASED.",
                    null);
        }
    }

    /** Why a method that is {@code @Transactional} and writes runs leased, although nobody asked for that; empty if not so. */
    Optional<String> downgrade(Idempotent annotation, Method method, Class<?> type) {
        TransactionAttribute attribute = ATTRIBUTES.getTransactionAttribute(method, type);
        if (annotation.way().length > 0 || attribute == null || attribute.isReadOnly() || isTaken(attribute)) {
            return Optional.empty();
        }
        return Optional.of(
                transactions.getIfAvailable() == null
                        ? ELSEWHERE
                        : "its @Transactional names another manager or another propagation than REQUIRED");
    }

    /** Whether the entry is written in the transaction that this attribute asks for. */
    private boolean isTaken(TransactionAttribute attribute) {
        return transactions.getIfAvailable() != null
                && joins(attribute)
                && !attribute.isReadOnly()
                && attribute.getPropagationBehavior() == TransactionDefinition.PROPAGATION_REQUIRED;
    }

    /** Whether a method with this attribute takes part in a transaction of our manager. */
    private boolean joins(TransactionAttribute attribute) {
        boolean apart = switch (attribute.getPropagationBehavior()) {
            case TransactionDefinition.PROPAGATION_REQUIRES_NEW,
                    TransactionDefinition.PROPAGATION_NOT_SUPPORTED,
                    TransactionDefinition.PROPAGATION_NEVER -> true;
            default -> false;
        };
        String qualifier = attribute.getQualifier();
        return !apart && (qualifier == null || qualifier.isEmpty() || isOurs(qualifier));
    }

    private boolean isOurs(String manager) {
        EntryTransactions ours = transactions.getIfAvailable();
        return ours != null
                && ours.isManagedBy(
                        BeanFactoryAnnotationUtils.qualifiedBeanOfType(beans, TransactionManager.class, manager));
    }
}
