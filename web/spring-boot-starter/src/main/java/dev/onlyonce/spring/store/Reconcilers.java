package dev.onlyonce.spring.store;

import dev.onlyonce.Event;
import dev.onlyonce.Listener;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Policy;
import dev.onlyonce.Reconciler;
import dev.onlyonce.spring.Reconciles;
import dev.onlyonce.spring.operations.InvalidSettings;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.steps.StepReconciler;
import dev.onlyonce.sql.steps.Steps;
import dev.onlyonce.store.Entry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;

/**
 * The application's {@link Reconciler} and {@link StepReconciler} beans, by operation, and the results of their rounds. The beans may need the engine
 * themselves, so the engine gets stand-ins, and they ask the beans when the application is complete.
 */
public final class Reconcilers implements SmartInitializingSingleton, Listener {
    private final ListableBeanFactory beans;
    private final Map<String, StandIn> byOperation = new TreeMap<>();
    private final List<String> unassigned = new ArrayList<>();

    Reconcilers(ListableBeanFactory beans) {
        this.beans = beans;
        Stream<String> names = Stream.of(Reconciler.class, StepReconciler.class)
                .flatMap(type -> Arrays.stream(beans.getBeanNamesForType(type, true, false)));
        for (String bean : names.toList()) {
            Reconciles operations = beans.findAnnotationOnBean(bean, Reconciles.class, false);
            if (operations == null) {
                unassigned.add(bean);
            }
            for (String operation : operations == null ? new String[0] : operations.value()) {
                StandIn before = byOperation.put(operation, new StandIn(bean));
                if (before != null) {
                    throw new InvalidSettings(
                            "The beans \"" + before.bean + "\" and \"" + bean + "\" both reconcile " + operation,
                            "Name each operation in one @Reconciles only.",
                            null);
                }
            }
        }
    }

    /** An application that builds the engine by itself hands its reconcilers over by itself too. */
    void addTo(Onlyonce.Builder builder) {
        if (!unassigned.isEmpty()) {
            throw new InvalidSettings(
                    "Nothing says for which operations these beans of type Reconciler or StepReconciler are: "
                            + unassigned,
                    "Annotate their classes, or the methods that make them, with @Reconciles(\"POST /payments\").",
                    null);
        }
        byOperation.forEach(builder::reconciler);
    }

    public Set<String> operations() {
        return byOperation.keySet();
    }

    @Override
    public void afterSingletonsInstantiated() {
        byOperation.forEach((operation, standIn) -> {
            Reconciler reconciler = reconciler(standIn.bean);
            check(operation, standIn.bean, reconciler);
            standIn.found = reconciler;
        });
    }

    /** Operations whose policy is declared later are checked then. */
    private void check(String operation, String bean, Reconciler reconciler) {
        Duration callMax =
                beans.getBean(Onlyonce.class).registry().policy(operation).callMax();
        if (reconciler.absentAfter().compareTo(callMax) < 0) {
            throw new InvalidSettings(
                    "The bean \"" + bean + "\" believes that " + operation + " had no effect after "
                            + reconciler.absentAfter() + ", but a call may take " + callMax + ".",
                    "Let its absentAfter() return at least that, or set onlyonce.operations.\"[" + operation
                            + "]\".call-max if no call takes that long, pauses of a node included.",
                    null);
        }
    }

    private Reconciler reconciler(String bean) {
        Object found = beans.getBean(bean);
        if (!(found instanceof StepReconciler steps)) {
            return (Reconciler) found;
        }
        if (!(beans.getBean(Onlyonce.class).registry().store() instanceof SqlStore store)) {
            throw new InvalidSettings(
                    "The bean \"" + bean
                            + "\" reconciles steps, but the entries are not in an SQL database, which records them",
                    "Keep the entries in the application's DataSource (no Store bean of another kind), or remove the bean.",
                    null);
        }
        return Steps.reconciler(store, steps);
    }

    @Override
    public void on(Event event) {
        if (event instanceof Event.Reconciled reconciled) {
            StandIn standIn = byOperation.get(reconciled.operation());
            if (standIn != null) {
                standIn.count(reconciled.progress());
            }
        }
    }

    /** For operators: each operation with its bean and the results of this node's rounds. */
    public Map<String, Object> describe() {
        Map<String, Object> described = new TreeMap<>();
        byOperation.forEach((operation, standIn) -> described.put(operation, standIn.describe()));
        return described;
    }

    /** Asks a bean as soon as there is one. */
    private static final class StandIn implements Reconciler {
        private final String bean;
        private final Map<Event.Reconciled.Progress, AtomicInteger> counts = new ConcurrentHashMap<>();
        private volatile @Nullable Reconciler found;

        StandIn(String bean) {
            this.bean = bean;
        }

        @Override
        public Finding reconcile(Entry unknown) throws Exception {
            Reconciler reconciler = found;
            return reconciler == null
                    ? new Finding.CannotTell("the application is starting")
                    : reconciler.reconcile(unknown);
        }

        @Override
        public Duration absentAfter() {
            Reconciler reconciler = found;
            // Not known yet: nothing is believed, and nothing is refused.
            return reconciler == null ? Policy.HELD_MAX : reconciler.absentAfter();
        }

        private void count(Event.Reconciled.Progress progress) {
            counts.computeIfAbsent(progress, any -> new AtomicInteger()).incrementAndGet();
        }

        private Map<String, Object> describe() {
            Map<String, Object> described = new TreeMap<>(Map.of("bean", bean));
            for (Event.Reconciled.Progress progress : Event.Reconciled.Progress.values()) {
                AtomicInteger count = counts.get(progress);
                described.put(progress.name().toLowerCase(Locale.ROOT), count == null ? 0 : count.get());
            }
            return described;
        }
    }
}
