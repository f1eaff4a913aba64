package dev.onlyonce.spring.web;

import dev.onlyonce.Codec;
import dev.onlyonce.Outcome;
import dev.onlyonce.Way;
import dev.onlyonce.http.Operation;
import dev.onlyonce.servlet.Execution;
import dev.onlyonce.spring.operations.HandlerPlan;
import dev.onlyonce.spring.operations.KeyedCall;
import dev.onlyonce.spring.outbox.QueuedWay;
import dev.onlyonce.spring.transactions.EntryTransactions;
import dev.onlyonce.spring.transactions.SteppedWay;
import dev.onlyonce.spring.transactions.TransactionalWay;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreUnavailable;
import jakarta.servlet.ServletException;
import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import org.springframework.beans.factory.ObjectProvider;

/** Executes the handlers that are not leased, each in its way. */
final class HandlerExecution implements Execution {
    private final Map<String, HandlerPlan> plans;
    private final Ways ways;

    /** The ways to execute; each is there if the application needs it. */
    record Ways(ObjectProvider<TransactionalWay> transactional, SteppedWay stepped, ObjectProvider<QueuedWay> queued) {}

    HandlerExecution(Map<String, HandlerPlan> plans, Ways ways) {
        this.plans = Map.copyOf(plans);
        this.ways = ways;
    }

    @Override
    public boolean executes(Operation operation) {
        HandlerPlan plan = plans.get(operation.name());
        return plan != null && plan.choice().way() != Way.LEASED;
    }

    @Override
    public Outcome<byte[]> execute(Call call, Handler handler) throws IOException, ServletException {
        HandlerPlan plan = Objects.requireNonNull(plans.get(call.operation().name()));
        call.request().setAttribute(HandlerArguments.KEY, call.key());
        try {
            return switch (plan.choice().way()) {
                case STEPPED -> SteppedHandler.execute(ways.stepped, call, handler);
                case QUEUED -> ways.queued.getObject().execute(plan.transaction(), plan.topic(), call, handler);
                default ->
                    ways.transactional
                            .getObject()
                            .execute(
                                    plan.transaction(),
                                    call.operation().policy(),
                                    new KeyedCall(call.key(), call.fingerprint()),
                                    Codec.bytes(),
                                    () -> handler.run(true));
            };
        } catch (EntryTransactions.RolledBack e) {
            throw new RolledBack();
        } catch (IOException | ServletException | RuntimeException e) {
            if (plan.choice().way() != Way.STEPPED
                    && !(e instanceof StoreException)
                    && EntryTransactions.isConflict(e)) {
                throw new StoreUnavailable("The transaction conflicts with another one; nothing happened", e);
            }
            throw e;
        } catch (Exception e) {
            throw new ServletException(e);
        }
    }
}
