package dev.onlyonce.sqs;

import static java.util.Objects.requireNonNullElse;

import dev.onlyonce.messages.adapter.MessageDispatcher;
import dev.onlyonce.messages.adapter.PendingMessage;
import dev.onlyonce.messages.adapter.PendingMessages;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.services.sqs.model.Message;

/**
 * Receives, and has others apply, on one thread.
 *
 * <ol>
 *   <li>One receive waits for messages. When it comes back full, more of them at once fill the batch.
 *   <li>The {@link Heartbeat} keeps what was received from being delivered to others.
 *   <li>The messages that are due are handed to threads of the {@link MessageDispatcher}. This one waits for them for a short while.
 *   <li>Those that are done are deleted. If that fails, or the process dies before, they are delivered again and recognised.
 *   <li>A message that failed goes back to its queue and is delivered again after its pause. In a FIFO queue it stays here, which keeps
 *       its group from being delivered, and those behind it go back.
 * </ol>
 */
final class PollLoop {
    /** How long to wait for a message that is due within a second: SQS waits for whole seconds only. */
    private static final Duration SHORT_PAUSE = Duration.ofMillis(100);

    /** How many times the batch may be held, when messages are slow that somebody else is applying: others must not wait for them. */
    private static final int SLOW_FACTOR = 2;

    private static final Logger log = LoggerFactory.getLogger(PollLoop.class);

    private final Queue queue;
    private final Parts parts;
    private final Heartbeat heartbeat;
    private final PendingMessages<Message> held = new PendingMessages<>();
    private int failures;

    /** What the loop works with. */
    record Parts(MessageDispatcher<Message> dispatcher, MessageDispatcher.Rules rules, Limits limits) {}

    /**
     * How much to receive.
     *
     * @param batch the most messages that are held
     * @param longPoll how long a receive waits for messages
     * @param visibility how long others do not get what was received
     */
    record Limits(int batch, Duration longPoll, Duration visibility) {}

    PollLoop(Queue queue, Parts parts) {
        this.queue = queue;
        this.parts = parts;
        this.heartbeat = new Heartbeat(queue, parts.limits.visibility, parts.rules.time());
    }

    /** Runs until the signal, then gives back what was not begun. */
    void run(CompletableFuture<?> closing) throws InterruptedException {
        heartbeat.start();
        try {
            while (!closing.isDone()) {
                receive(closing);
                List<PendingMessage<Message>> due = held.due(parts.dispatcher.now());
                if (!closing.isDone()) {
                    work(due);
                }
            }
            delete(parts.dispatcher.finish());
        } finally {
            try {
                giveBack(notRunning(held.all()));
            } finally {
                heartbeat.close();
            }
        }
    }

    private void receive(CompletableFuture<?> closing) throws InterruptedException {
        Limits limits = parts.limits;
        long idle = held.idleNanos(parts.dispatcher.now());
        Duration wait = idle >= limits.longPoll.toNanos()
                ? limits.longPoll
                : Duration.ofSeconds(Duration.ofNanos(idle).toSeconds());
        int room = Math.min(limits.batch - held.fresh(), SLOW_FACTOR * limits.batch - held.size());
        List<Message> messages = room > 0 ? gather(room, wait, closing) : List.of();
        for (Message message : messages) {
            Delivered delivered = new Delivered(message, queue.url());
            held.add(
                    parts.dispatcher.receive(delivered.message(), delivered.order(), message, delivered.triesBefore()));
        }
        if (messages.isEmpty() && idle > 0 && (wait.isZero() || room <= 0)) {
            Duration pause = held.isRunning() ? SHORT_PAUSE : Duration.ofNanos(Math.min(idle, SHORT_PAUSE.toNanos()));
            parts.rules.time().await(closing, pause);
        }
    }

    private List<Message> gather(int room, Duration wait, CompletableFuture<?> closing) throws InterruptedException {
        List<Message> messages = new ArrayList<>();
        try {
            take(queue.receive(Math.min(room, Queue.REQUEST_MAX), wait, parts.limits.visibility), messages);
            if (messages.size() == Queue.REQUEST_MAX && !closing.isDone()) {
                List<CompletableFuture<List<Message>>> more = new ArrayList<>();
                for (int left = room - messages.size(); left > 0; left -= Queue.REQUEST_MAX) {
                    int most = Math.min(left, Queue.REQUEST_MAX);
                    more.add(queue.receive(most, Duration.ZERO, parts.limits.visibility));
                }
                for (CompletableFuture<List<Message>> answer : more) {
                    // Those behind one that failed bring messages, too.
                    take(answer.exceptionally(this::nothing), messages);
                }
            }
            failures = 0;
        } catch (CompletionException e) {
            Duration pause = parts.rules.retries().pause(++failures);
            log.warn("Nothing can be received from {}; it is tried again in {}", queue.url(), pause, e);
            parts.rules.time().await(closing, pause);
        }
        return messages;
    }

    private List<Message> nothing(Throwable thrown) {
        log.warn("A receive from {} failed", queue.url(), thrown);
        return List.of();
    }

    private void take(CompletableFuture<List<Message>> answer, List<Message> messages) {
        List<Message> some = answer.join();
        heartbeat.hold(some.stream().map(Message::receiptHandle).toList());
        messages.addAll(some);
    }

    private void work(List<PendingMessage<Message>> due) {
        delete(parts.dispatcher.work(due));
        giveBack(notRunning(Queue.isFifo(queue.url()) ? behindOthers() : failed()));
    }

    private void delete(Set<PendingMessage<Message>> done) {
        held.done(done);
        List<String> receipts = receipts(done);
        heartbeat.release(receipts);
        queue.delete(receipts).join();
    }

    /** What is running is hidden until it is done, or until its visibility timeout is over. */
    private static List<PendingMessage<Message>> notRunning(List<PendingMessage<Message>> messages) {
        return messages.stream().filter(pending -> !pending.isRunning()).toList();
    }

    /** Those that failed in this delivery, and are to be tried in another. A dead letter that could not be sent stays here. */
    private List<PendingMessage<Message>> failed() {
        return held.all().stream()
                .filter(pending -> pending.verdict() == null
                        && pending.tries() > new Delivered(pending.record(), queue.url()).triesBefore())
                .toList();
    }

    /** Those that wait for another of their group, which stays here. One that is running is done soon. */
    private List<PendingMessage<Message>> behindOthers() {
        Set<Object> waiting = new HashSet<>();
        Set<Object> running = new HashSet<>();
        held.all().stream().filter(PendingMessage::isRunning).forEach(pending -> running.add(orderOf(pending)));
        return held.all().stream()
                .filter(pending -> pending.order() != null && !waiting.add(pending.order()))
                .filter(pending -> !running.contains(orderOf(pending)))
                .toList();
    }

    private static Object orderOf(PendingMessage<Message> pending) {
        return requireNonNullElse(pending.order(), pending);
    }

    private void giveBack(List<PendingMessage<Message>> messages) {
        if (messages.isEmpty()) {
            return;
        }
        held.done(Set.copyOf(messages));
        heartbeat.release(receipts(messages));
        heartbeat.quiet().join();
        long now = parts.dispatcher.now();
        queue.hide(messages.stream()
                        .map(pending -> new Queue.Visibility(
                                pending.record().receiptHandle(),
                                Duration.ofNanos(Math.max(0, pending.dueNanos() - now))))
                        .toList())
                .join();
    }

    private static List<String> receipts(Collection<PendingMessage<Message>> messages) {
        return messages.stream()
                .map(pending -> pending.record().receiptHandle())
                .toList();
    }
}
