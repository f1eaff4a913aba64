package dev.onlyonce.spring.outbox;

import dev.onlyonce.Codec;
import dev.onlyonce.Outcome;
import dev.onlyonce.http.StoredResponse;
import dev.onlyonce.servlet.Execution;
import dev.onlyonce.spring.Queued;
import dev.onlyonce.spring.operations.JsonMapping;
import dev.onlyonce.spring.transactions.EntryTransactions;
import dev.onlyonce.sql.outbox.Accepted;
import dev.onlyonce.sql.outbox.Outbox;
import dev.onlyonce.sql.outbox.OutboxCall;
import dev.onlyonce.store.StoreException;
import java.time.Duration;
import org.springframework.transaction.TransactionDefinition;

/**
 * Runs handlers that write first and let a worker call later.
 *
 * <ol>
 *   <li>The claim, the handler's business write and the outbox row commit in one transaction.
 *   <li>The request waits for the worker's result, no longer than the operation's {@code wait-max}.
 *   <li>A handler that answers instead of returning {@link Queued} refuses the request: its writes are rolled back, its answer is
 *       sent, and the key stays free.
 * </ol>
 */
public final class QueuedWay {
    /** Request attribute: the {@link Queued} that the handler has returned. */
    public static final String QUEUED = QueuedWay.class.getName();

    private static final int REFUSAL = 400;
    private static final Outcome<byte[]> PENDING = new Outcome.InFlight<>(true, Duration.ofSeconds(1));

    private final EntryTransactions transactions;
    private final Outbox outbox;
    private final JsonMapping json;

    QueuedWay(EntryTransactions transactions, Outbox outbox, JsonMapping json) {
        this.transactions = transactions;
        this.outbox = outbox;
        this.json = json;
    }

    public Outcome<byte[]> execute(
            TransactionDefinition definition, String topic, Execution.Call call, Execution.Handler handler)
            throws Exception {
        Accepted<byte[]> accepted = transactions.run(
                definition,
                call.key(),
                result -> call.request().getAttribute(QUEUED) != null,
                (connection, current) -> outbox.accept(
                        connection,
                        call.key(),
                        call.fingerprint(),
                        Codec.bytes(),
                        any -> new OutboxCall(topic, current.call(() -> payload(call, handler)))));
        return accepted.outcome() instanceof Outcome.InFlight ? await(call) : accepted.outcome();
    }

    private byte[] payload(Execution.Call call, Execution.Handler handler) throws Exception {
        byte[] response = handler.run(true);
        if (call.request().getAttribute(QUEUED) instanceof Queued queued) {
            return queued.payload() instanceof byte[] bytes ? bytes : json.write(queued.payload());
        }
        if (StoredResponse.decode(response).filter(it -> it.status() >= REFUSAL).isEmpty()) {
            throw new IllegalStateException(
                    call.operation().name() + " says that it was done, but it has queued nothing");
        }
        throw new Execution.Released();
    }

    /** Most providers answer within a moment; then the client gets the final answer at once. */
    private Outcome<byte[]> await(Execution.Call call) {
        try {
            Duration max = call.operation().policy().waitMax();
            return outbox.await(call.key(), call.fingerprint(), Codec.bytes(), max)
                    .orElse(PENDING);
        } catch (StoreException e) {
            // It is accepted, whatever can be read now.
            return PENDING;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return PENDING;
        }
    }
}
