package dev.onlyonce.sql.steps;

import dev.onlyonce.DownstreamKey;
import dev.onlyonce.Key;
import dev.onlyonce.Reconciler;
import dev.onlyonce.sql.internal.connections.Connections;
import dev.onlyonce.sql.internal.entries.StoredEntry;
import dev.onlyonce.store.Entry;
import java.time.Duration;
import java.util.List;

/**
 * Reconciles a stepped operation by its step in doubt: a step that is found becomes a finished one. From there on nothing is in
 * doubt, and the entry may be retryable: the next request resumes. If the process dies in between, the next round goes on.
 */
final class StepReconciliation implements Reconciler {
    private final StepTable table;
    private final Connections connections;
    private final StepReconciler steps;

    StepReconciliation(StepTable table, Connections connections, StepReconciler steps) {
        this.table = table;
        this.connections = connections;
        this.steps = steps;
    }

    @Override
    public Finding reconcile(Entry unknown) throws Exception {
        StepTable.Of of = new StepTable.Of(unknown.id(), StoredEntry.micros(unknown.createdAt()));
        List<StepTable.Step> doubtful = connections.read(c -> table.inDoubt(c, of));
        if (doubtful.isEmpty()) {
            return new Finding.Absent("no step is in doubt");
        }
        // A flow does not go on after a step in doubt: earlier ones did not happen, and an outage kept that from being
        // recorded.
        StepTable.Step step = doubtful.get(doubtful.size() - 1);
        Key key = Key.of(unknown.id(), unknown.operation());
        Finding finding = steps.reconcile(unknown, step.name(), DownstreamKey.of(key, step.name()));
        if (!(finding instanceof Finding.Found found)) {
            return finding;
        }
        byte[] result = found.result();
        if (result == null) {
            return new Finding.CannotTell("step " + step.name() + " was found, but not its result");
        }
        StepTable.Step finished = new StepTable.Step(step.number(), step.name(), StepTable.FINISHED, result);
        boolean recorded = connections.transaction(c -> {
            boolean still = table.found(c, of, unknown.attempt(), finished);
            if (!still) {
                c.rollback();
            }
            return still;
        });
        return recorded
                ? new Finding.Absent("step " + step.name() + " was found and recorded; nothing else is in doubt")
                : new Finding.CannotTell("the entry has changed meanwhile");
    }

    @Override
    public Duration absentAfter() {
        return steps.absentAfter();
    }
}
