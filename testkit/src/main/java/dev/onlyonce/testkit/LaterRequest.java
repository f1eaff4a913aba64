package dev.onlyonce.testkit;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.Begun;
import dev.onlyonce.Codec;
import dev.onlyonce.Ending;
import dev.onlyonce.FailureRule.Verdict;
import dev.onlyonce.OpenClaim;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.Registry;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One request of a {@link Customer} to a machine that does not block: it is told later how it began, acts, settles, and is
 * told later that this is recorded. It may give up at any time, and does if nobody tells it anything.
 */
final class LaterRequest {
    private static final Duration PATIENCE = Duration.ofSeconds(100);
    private static final Duration RETRY_AFTER = Duration.ofSeconds(1);

    private final World world;
    private final Machine machine;
    private final Customer customer;
    private final Policy policy;
    private final Instant asked;
    private final Consumer<Boolean> ended;
    private CompletableFuture<?> awaited = new CompletableFuture<>();
    private boolean isEnded;

    /**
     * Of this customer to this machine.
     *
     * @param ended called once: whether the customer has its final answer
     */
    LaterRequest(World world, Machine machine, Customer customer, Consumer<Boolean> ended) {
        this.world = world;
        this.machine = machine;
        this.customer = customer;
        this.policy = machine.once().registry().policy(customer.key().operation());
        this.asked = world.now();
        this.ended = ended;
    }

    /** Sends it; never blocks. */
    void send() {
        await(begin(machine.once().registry()), this::begun);
        world.after(patience(), this::giveUp);
    }

    /** As the HTTP boundary does: it looks into memory once, then claims. */
    private CompletionStage<Begun> begin(Registry registry) {
        return registry.cached(customer.key(), customer.fingerprint())
                .<CompletionStage<Begun>>map(answer -> CompletableFuture.completedFuture(new Begun.Answered(answer)))
                .orElseGet(() -> registry.claim(customer.key(), customer.fingerprint(), policy, this::hand));
    }

    /** Some give up before the store is asked, or while it is. */
    private Duration patience() {
        if (!world.oneIn(4)) {
            return PATIENCE;
        }
        return world.upTo(Duration.ofMillis(world.pick(2) == 0 ? 10 : 10_000));
    }

    /** Runs what blocks, a little later; sometimes there is no thread for it. */
    private void hand(Runnable work) {
        if (world.oneIn(10, Trouble.FAILURES)) {
            throw new RejectedExecutionException("planted");
        }
        machine.run(work);
    }

    /** What follows on a stage must be quick: it only says what to do next. */
    private <T> void await(CompletionStage<T> stage, BiConsumer<@Nullable T, @Nullable Throwable> next) {
        CompletableFuture<T> future = stage.toCompletableFuture();
        awaited = future;
        var unused = future.whenComplete((result, failure) -> {
            if (!isEnded) {
                machine.run(() -> next.accept(result, failure));
            }
        });
    }

    private void end(boolean isFinal) {
        if (!isEnded) {
            isEnded = true;
            ended.accept(isFinal);
        }
    }

    private void giveUp() {
        if (!isEnded) {
            customer.note("gives up");
            end(false);
            awaited.cancel(false);
        }
    }

    private void begun(@Nullable Begun begun, @Nullable Throwable failure) {
        if (failure != null) {
            customer.refused(store(failure), false);
            end(false);
        } else if (begun instanceof Begun.Answered answered) {
            end(customer.isAnswered(asked, answered.outcome().map(Codec.text()::decode)));
        } else if (begun instanceof Begun.Claimed claimed) {
            act(claimed.claim());
        }
    }

    private void act(OpenClaim claim) {
        if (isEnded) {
            // It has given up after the claim was handed out, and before this ran: whoever is handed a claim settles
            // it.
            settle(claim, new Ending.Retryable("its caller gave up"), settled -> new Outcome.Unknown<>(RETRY_AFTER));
            return;
        }
        String value;
        try {
            value = customer.act(machine, claim);
        } catch (Crash e) {
            throw e;
        } catch (RuntimeException e) {
            customer.note("fails: " + e);
            boolean absent = policy.failures().judge(e) instanceof Verdict.NoEffect;
            String why = e.getClass().getName();
            Ending ending = absent ? new Ending.Retryable(why) : new Ending.Unknown(why);
            settle(claim, ending, settled -> new Outcome.Unknown<>(RETRY_AFTER));
            return;
        }
        Ending ending = new Ending.Completed(Codec.text().encode(value));
        settle(claim, ending, settled -> new Outcome.Executed<>(value, requireNonNull(settled.expiresAt())));
    }

    private void settle(OpenClaim claim, Ending ending, Function<SettleResult.Settled, Outcome<String>> outcome) {
        await(claim.settle(ending, this::hand), (result, failure) -> {
            if (failure != null) {
                customer.refused(store(failure), true);
                end(false);
            } else {
                end(customer.isAnswered(
                        asked,
                        result instanceof SettleResult.Settled settled
                                ? outcome.apply(settled)
                                : new Outcome.Unknown<>(RETRY_AFTER)));
            }
        });
    }

    private static StoreException store(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        if (cause instanceof StoreException e) {
            return e;
        }
        return new StoreOutcomeUnknown("not an exception of the store", cause);
    }
}
