package dev.onlyonce.server.cli;

import dev.onlyonce.server.admin.AdminOperator;
import java.util.Optional;

/** An operator that closes what was opened for it. */
record ClosingOperator(AdminOperator operator, Runnable onClose) implements AdminOperator {

    @Override
    public Page keys(KeyFilter filter) {
        return operator.keys(filter);
    }

    @Override
    public Optional<KeyView> key(KeyName name) {
        return operator.key(name);
    }

    @Override
    public History history(KeyName name) {
        return operator.history(name);
    }

    @Override
    public KeyView resolve(KeyName name, Finding finding) {
        return operator.resolve(name, finding);
    }

    @Override
    public void evict(KeyName name, String reason) {
        operator.evict(name, reason);
    }

    @Override
    public Backlog reconcileList(int limit) {
        return operator.reconcileList(limit);
    }

    @Override
    public ReconcileRun reconcileRun() {
        return operator.reconcileRun();
    }

    @Override
    public DeadLetters outboxList(long after, int limit) {
        return operator.outboxList(after, limit);
    }

    @Override
    public void outboxRetry(long id, String reason) {
        operator.outboxRetry(id, reason);
    }

    @Override
    public void outboxDrop(long id, String reason) {
        operator.outboxDrop(id, reason);
    }

    @Override
    public SchemaView schemaStatus() {
        return operator.schemaStatus();
    }

    @Override
    public SchemaView schemaApply() {
        return operator.schemaApply();
    }

    @Override
    public Stats stats() {
        return operator.stats();
    }

    @Override
    public void close() {
        operator.close();
        onClose.run();
    }
}
