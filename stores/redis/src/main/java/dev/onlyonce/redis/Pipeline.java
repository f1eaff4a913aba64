package dev.onlyonce.redis;

import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreUnavailable;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.protocol.AsyncCommand;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests together and waits for all answers, for a bounded time.
 *
 * <ol>
 *   <li>A script that a server does not know, because it was restarted or has taken over, goes again with its text.
 *   <li>If an answer is missing, the connections to silent servers are closed: the next requests for them are refused at once, until
 *       there is a connection to a server that answers.
 * </ol>
 */
final class Pipeline {
    private final Link link;
    private final ServerCheck check;
    private final Duration timeout;

    Pipeline(Link link, ServerCheck check, Duration timeout) {
        this.link = link;
        this.check = check;
        this.timeout = timeout;
    }

    /**
     * Sends the requests; one answer for each, in their order. What a server has answered that turns out not to keep what it is given
     * is in doubt: another may have taken over while the requests were on their way.
     *
     * @throws StoreUnavailable if the servers do not keep what they are given, see {@link ServerCheck}; nothing was sent
     */
    List<Reply> send(List<Request> requests) {
        check.afterReconnect();
        List<Reply> replies = sendUnchecked(requests);
        try {
            check.afterReconnect();
            return replies;
        } catch (StoreUnavailable e) {
            Reply doubt = new Reply(List.of(), new StoreOutcomeUnknown("Taken, but " + e.getMessage(), e));
            return replies.stream()
                    .map(reply -> reply.failure() == null ? doubt : reply)
                    .toList();
        }
    }

    /** Changes when another server may be at the other end. */
    int generation() {
        return link.generation();
    }

    /** The same, whether or not the servers keep what they are given. */
    List<Reply> sendUnchecked(List<Request> requests) {
        List<AsyncCommand<byte[], byte[], List<Object>>> commands =
                new ArrayList<>(requests.stream().map(Request::command).toList());
        dispatch(commands);
        List<Integer> unknown = new ArrayList<>();
        for (int i = 0; i < commands.size(); i++) {
            if (failure(commands.get(i)) instanceof RedisNoScriptException) {
                commands.set(i, requests.get(i).withText().command());
                unknown.add(i);
            }
        }
        if (!unknown.isEmpty()) {
            dispatch(unknown.stream().map(commands::get).toList());
        }
        return commands.stream().map(Pipeline::reply).toList();
    }

    private void dispatch(List<AsyncCommand<byte[], byte[], List<Object>>> commands) {
        link.send(commands);
        try {
            CompletableFuture.allOf(commands.toArray(CompletableFuture<?>[]::new))
                    .get(timeout.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            // One that is not sent yet never will be.
            commands.forEach(AsyncCommand::cancel);
            link.giveUpSilent(timeout.dividedBy(2));
        } catch (InterruptedException e) {
            commands.forEach(AsyncCommand::cancel);
            Thread.currentThread().interrupt();
            throw new StoreOutcomeUnknown("Interrupted while waiting for Redis", e);
        } catch (ExecutionException e) {
            // Each command has its own answer.
        }
    }

    private static Reply reply(AsyncCommand<byte[], byte[], List<Object>> command) {
        Throwable failure = failure(command);
        return failure == null ? Reply.of(command.join()) : Reply.failed(failure);
    }

    private static @Nullable Throwable failure(CompletableFuture<?> command) {
        if (!command.isCompletedExceptionally()) {
            return null;
        }
        try {
            var unused = command.join();
            return null;
        } catch (CompletionException e) {
            return e.getCause() == null ? e : e.getCause();
        } catch (CancellationException e) {
            return new TimeoutException("no answer in time");
        }
    }
}
