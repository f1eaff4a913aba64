package dev.onlyonce.sql.steps;

import dev.onlyonce.Reconciler;
import dev.onlyonce.store.Entry;
import java.time.Duration;

/**
 * Finds out whether one step of an unknown stepped operation happened, by asking whoever would know. Called as a
 * {@link Reconciler} is; it must only look, never act.
 */
@FunctionalInterface
public interface StepReconciler {

    /**
     * Looks for the effect of a step.
     *
     * @param step the name of the step that was started and not finished
     * @param downstreamKey the key that the step sent along
     * @return {@link Reconciler.Finding.Found} with the step's result, as the step's codec encodes it: it is recorded, and the
     *     next request resumes after the step. {@link Reconciler.Finding.Absent}: the next request runs the step again.
     *     Without a result nothing can resume, so an operator has to decide
     */
    Reconciler.Finding reconcile(Entry unknown, String step, String downstreamKey) throws Exception;

    /** As {@link Reconciler#absentAfter()}. */
    default Duration absentAfter() {
        return Duration.ofMinutes(1);
    }
}
