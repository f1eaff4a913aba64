package dev.onlyonce.sqs;

import dev.onlyonce.messages.adapter.Desk;
import dev.onlyonce.messages.adapter.Lane;
import dev.onlyonce.messages.adapter.Letter;
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
 * Receives and applies, on one thread.
 *
 * <ol>
 *   <li>One receive waits for messages. When it comes back full, more of them at once fill the batch.
 *   <li>The {@link Heartbeat} keeps what was received from being delivered to others.
 *   <li>The messages that are due are applied, all in one batch.
 *   <li>Those that are done are deleted. If that fails, or the process dies before, they are delivered again and recognised.
 *   <li>A message that failed goes back to its queue and is delivered again after its pause. In a FIFO queue it stays here, which keeps
 *       its group from being delivered, and those behind it go back.
 * </ol>
 */
final class PollLoop {
    /** How long to wait for a message that is due within a second: SQS waits for whole seconds only. */
    private static final Duration SHORT_PAUSE = Duration.ofMillis(100);

    private static final Logger log = LoggerFactory.getLogger(PollLoop.class);

    private final Queue queue;
    private final Parts parts;
    private final Heartbeat heartbeat;
    private final Lane<Message> lane = new Lane<>();
    private int failures;

    /** What the loop works with. */
    record Parts(Desk<Message> desk, Desk.Rules rules, Limits limits) {}

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
                List<Letter<Message>> due = lane.due(parts.desk.now());
                if (!due.isEmpty() && !closing.isDone()) {
                    work(due);
                }
            }
        } finally {
            try {
                giveBack(lane.all());
            } finally {
                heartbeat.close();
            }
        }
    }

    private void receive(CompletableFuture<?> closing) throws InterruptedException {
        Limits limits = parts.limits;
        long idle = lane.idleNanos(parts.desk.now());
        Duration wait = idle >= limits.longPoll.toNanos()
                ? limits.longPoll
                : Duration.ofSeconds(Duration.ofNanos(idle).toSeconds());
        int room = limits.batch - lane.size();
        List<Message> messages = room > 0 ? gather(room, wait, closing) : List.of();
        for (Message message : messages) {
            Delivered delivered = new Delivered(message, queue.url());
            lane.add(parts.desk.receive(delivered.message(), delivered.order(), message, delivered.triesBefore()));
        }
        if (messages.isEmpty() && idle > 0 && (wait.isZero() || room <= 0)) {
            parts.rules.time().await(closing, Duration.ofNanos(Math.min(idle, SHORT_PAUSE.toNanos())));
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

    private void work(List<Letter<Message>> due) {
        Set<Letter<Message>> done = parts.desk.work(due);
        lane.done(done);
        List<String> receipts = receipts(done);
        heartbeat.release(receipts);
        queue.delete(receipts).join();
        giveBack(Queue.isFifo(queue.url()) ? behindOthers() : failed());
    }

    /** Those that failed in this delivery, and are to be tried in another. A dead letter that could not be sent stays here. */
    private List<Letter<Message>> failed() {
        return lane.all().stream()
                .filter(letter -> letter.verdict() == null
                        && letter.tries() > new Delivered(letter.record(), queue.url()).triesBefore())
                .toList();
    }

    /** Those that wait for another of their group, which stays here. */
    private List<Letter<Message>> behindOthers() {
        Set<Object> waiting = new HashSet<>();
        return lane.all().stream()
                .filter(letter -> letter.order() != null && !waiting.add(letter.order()))
                .toList();
    }

    private void giveBack(List<Letter<Message>> letters) {
        if (letters.isEmpty()) {
            return;
        }
        lane.done(Set.copyOf(letters));
        heartbeat.release(receipts(letters));
        heartbeat.quiet().join();
        long now = parts.desk.now();
        queue.hide(letters.stream()
                        .map(letter -> new Queue.Visibility(
                                letter.record().receiptHandle(),
                                Duration.ofNanos(Math.max(0, letter.dueNanos() - now))))
                        .toList())
                .join();
    }

    private static List<String> receipts(Collection<Letter<Message>> letters) {
        return letters.stream().map(letter -> letter.record().receiptHandle()).toList();
    }
}
