package dev.onlyonce;

import org.jspecify.annotations.Nullable;

/** The settings of one operation. Starts from the settings that the {@link Onlyonce.Builder} has at that time. */
public final class OperationOptions extends PolicyOptions<OperationOptions> {
    private @Nullable Reconciler reconciler;
    private @Nullable Way way;

    OperationOptions(Policy start) {
        start(start);
    }

    @Override
    OperationOptions self() {
        return this;
    }

    /** Finds out whether unknown entries took effect. */
    public OperationOptions reconciler(Reconciler reconciler) {
        this.reconciler = reconciler;
        return this;
    }

    /** The way in which the operation is executed; by default the first use decides. */
    public OperationOptions way(Way way) {
        this.way = way;
        return this;
    }

    @Nullable
    Reconciler reconciler() {
        return reconciler;
    }

    @Nullable
    Way way() {
        return way;
    }
}
