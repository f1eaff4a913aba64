package dev.onlyonce.spring.web;

import dev.onlyonce.Codec;
import dev.onlyonce.Outcome;
import dev.onlyonce.servlet.Execution;
import dev.onlyonce.spring.operations.KeyedCall;
import dev.onlyonce.spring.transactions.SteppedWay;
import dev.onlyonce.sql.steps.Flow;
import dev.onlyonce.sql.steps.StepRunner;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * One run of a handler in steps. An exception that leaves the handler ends the run, whoever answers it: the answer is sent, and
 * the next request resumes, unless an effect is in doubt.
 */
final class SteppedHandler implements Flow<byte[], Exception> {
    private final HttpServletRequest request;
    private final Execution.Handler handler;
    private @Nullable Exception left;
    private boolean answered;

    private SteppedHandler(HttpServletRequest request, Execution.Handler handler) {
        this.request = request;
        this.handler = handler;
    }

    static Outcome<byte[]> execute(SteppedWay way, Execution.Call call, Execution.Handler handler) throws Exception {
        SteppedHandler run = new SteppedHandler(call.request(), handler);
        try {
            return way.execute(new KeyedCall(call.key(), call.fingerprint()), Codec.bytes(), run);
        } catch (Exception e) {
            throw run.passed(e);
        }
    }

    @Override
    public byte[] run(StepRunner steps) throws Exception {
        request.setAttribute(HandlerArguments.STEPS, steps);
        byte[] response = new byte[0];
        try {
            response = handler.run(steps.attempt() == 1);
            answered = true;
        } catch (Exception e) {
            left = e;
        }
        // Spring wraps it, or hides it behind an answer. Whether the operation can be resumed depends on the exception
        // itself.
        Exception thrown = HandlerExceptions.thrown(request);
        if (thrown != null) {
            throw thrown;
        }
        if (left != null) {
            throw left;
        }
        return response;
    }

    /** What the caller gets for an exception that ended the run. */
    private Exception passed(Exception e) {
        if (e == HandlerExceptions.thrown(request)) {
            return left == null || left instanceof Execution.RolledBack ? new Execution.Released() : left;
        }
        return answered && e instanceof StoreException
                ? new StoreOutcomeUnknown("The last step was made, but the result could not be recorded", e)
                : e;
    }
}
