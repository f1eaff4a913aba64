package dev.onlyonce.messages.adapter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Event;
import dev.onlyonce.Key;
import dev.onlyonce.NotExecuted;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Scope;
import dev.onlyonce.Way;
import dev.onlyonce.messages.DeadLetterReason;
import dev.onlyonce.messages.LeasedHandler;
import dev.onlyonce.messages.MessageCounts;
import dev.onlyonce.messages.MessageHeader;
import dev.onlyonce.messages.MessageId;
import dev.onlyonce.messages.MessageIdentity;
import dev.onlyonce.messages.PoisonMessage;
import dev.onlyonce.messages.ReceivedMessage;
import dev.onlyonce.messages.RetryLimits;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Time;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("The desk of a consumer")
class MessageDispatcherTest {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final RetryLimits AT_ONCE = new RetryLimits(3, Duration.ZERO, Duration.ZERO, HOUR);
    private static final RetryLimits SLOW = new RetryLimits(3, HOUR, HOUR, HOUR);

    private final Time time = Time.system();
    private final MemoryStore memory = new MemoryStore(time);
    private final AtomicBoolean storeDown = new AtomicBoolean();
    private final Onlyonce once = Onlyonce.builder(store()).time(time).build();
    private final Map<DeadLetterReason, List<String>> dead = new EnumMap<>(DeadLetterReason.class);
    private final List<MessageDispatcher<String>> desks = new ArrayList<>();

    private Store store() {
        return (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(), new Class<?>[] {Store.class}, (self, method, arguments) -> {
                    if (storeDown.get()) {
                        throw new StoreUnavailable("down", null);
                    }
                    try {
                        return method.invoke(memory, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @AfterEach
    void close() {
        storeDown.set(false);
        desks.forEach(MessageDispatcher::close);
        once.close();
        time.close();
    }

    /** Remembers the bodies of dead letters. */
    private final class Box implements DeadLetters<String> {
        @Override
        public Set<PendingMessage<String>> send(Map<PendingMessage<String>, PoisonMessage> messages) {
            messages.forEach((pending, why) -> dead.computeIfAbsent(why.reason(), reason -> new ArrayList<>())
                    .add(pending.record()));
            return messages.keySet();
        }

        @Override
        public void close() {}
    }

    private final class Builder extends InboxBuilder<String, Builder, MessageDispatcher<String>> {
        Builder(Onlyonce on) {
            super(on, message -> new String(message.body(), StandardCharsets.UTF_8));
        }

        @Override
        protected Builder self() {
            return this;
        }

        @Override
        protected String group() {
            return "group";
        }

        @Override
        protected MessageDispatcher<String> build(MessageDispatcher.Rules rules) {
            MessageDispatcher<String> dispatcher = new MessageDispatcher<>(rules, new Box());
            desks.add(dispatcher);
            return dispatcher;
        }
    }

    private MessageDispatcher<String> dispatcher(RetryLimits retries, MessageId ids, LeasedHandler<String> handler) {
        return new Builder(once).id(ids).retries(retries).leased("ship", handler);
    }

    private static PendingMessage<String> pending(MessageDispatcher<String> dispatcher, String id) {
        return pending(dispatcher, "topic", id);
    }

    @Test
    @DisplayName("N4 keeps a message whose outcome is unknown, so that it can be sent again if nothing happened")
    void unknown() {
        Queue<String> calls = new ConcurrentLinkedQueue<>();
        MessageDispatcher<String> dispatcher = dispatcher(AT_ONCE, MessageId.header("id"), (claim, value, message) -> {
            calls.add(value);
            if (calls.size() == 1) {
                throw new IllegalStateException("the line went dead");
            }
        });
        PendingMessage<String> pending = pending(dispatcher, "a");
        assertThat(dispatcher.work(List.of(pending))).isEmpty();
        assertThat(dispatcher.work(List.of(pending))).containsExactly(pending);
        assertThat(dead).containsOnlyKeys(DeadLetterReason.OUTCOME_UNKNOWN);
        assertThat(dispatcher.counts()).isEqualTo(new MessageCounts(0, 0, 1, 1, 0));
        // The reconciler finds that nothing happened, and the dead letter is sent again.
        Key key = Key.of(new MessageIdentity("topic", "a").source("group"), "ship", "a")
                .in(Scope.OPERATION);
        Entry entry = once.find(key).orElseThrow();
        once.operator()
                .resolve(new Resolution(
                        key.entryId(), entry.createdAt(), entry.attempt(), State.RETRYABLE, null, "test", "absent"));
        PendingMessage<String> again = pending(dispatcher, "a");
        assertThat(dispatcher.work(List.of(again))).containsExactly(again);
        assertThat(dispatcher.counts().applied()).isEqualTo(1);
        assertThat(calls).containsExactly("a", "a");
    }

    @Test
    @Timeout(value = 50, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    @DisplayName("D21 N7 a listener that blocks holds up no message")
    void blockingListener() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        Queue<Event> heard = new ConcurrentLinkedQueue<>();
        Onlyonce watched = Onlyonce.builder(store())
                .time(time)
                .listener(event -> {
                    heard.add(event);
                    awaitQuietly(goOn);
                })
                .build();
        try (watched) {
            MessageDispatcher<String> dispatcher = new Builder(watched)
                    .id(MessageId.header("id"))
                    .retries(AT_ONCE)
                    .leased("ship", (claim, value, message) -> {});
            for (String id : List.of("a", "b", "c")) {
                List<PendingMessage<String>> messages = new ArrayList<>(List.of(pending(dispatcher, id)));
                workUntil(dispatcher, messages, messages::isEmpty);
            }
            assertThat(dispatcher.counts().applied()).isEqualTo(3);
            workUntil(dispatcher, new ArrayList<>(), () -> !heard.isEmpty());
        } finally {
            goOn.countDown();
        }
    }

    @Test
    @DisplayName("tells listeners of the node which message it gave up, and why")
    void givenUp() {
        Queue<Event.GivenUp> heard = new ConcurrentLinkedQueue<>();
        Onlyonce watched = Onlyonce.builder(store())
                .time(time)
                .listener(event -> {
                    if (event instanceof Event.GivenUp message) {
                        heard.add(message);
                    }
                })
                .build();
        try (watched) {
            MessageDispatcher<String> dispatcher = new Builder(watched)
                    .id(MessageId.header("id"))
                    .retries(AT_ONCE)
                    .leased("ship", (claim, value, message) -> {
                        throw new PoisonMessage("no such account");
                    });
            PendingMessage<String> pending = pending(dispatcher, "a");
            List<PendingMessage<String>> messages = new ArrayList<>(List.of(pending));
            workUntil(dispatcher, messages, () -> !heard.isEmpty());
            Event.GivenUp message = heard.remove();
            assertThat(message.text()).isEqualTo("no such account");
            assertThat(message.reason()).isEqualTo("rejected");
            assertThat(message.coordinates()).isEqualTo(pending.message().coordinates());
            assertThat(message.body()).isEqualTo(pending.message().body());
        }
    }

    private static void awaitQuietly(CountDownLatch goOn) {
        try {
            goOn.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    @DisplayName("N4 a message for which there is no thread is not taken for one that is being applied")
    void noThread() {
        MessageDispatcher<String> dispatcher =
                dispatcher(AT_ONCE, MessageId.header("id"), (claim, value, message) -> {});
        PendingMessage<String> pending = pending(dispatcher, "a");
        dispatcher.close();
        assertThatThrownBy(() -> dispatcher.work(List.of(pending))).isInstanceOf(RejectedExecutionException.class);
        assertThat(pending.isRunning()).isFalse();
        assertThat(dispatcher.finish()).isEmpty();
    }

    @Test
    @DisplayName("N4 gives up a message whose entry cannot be read after its tries, and applies the others")
    void unreadableEntry() {
        Queue<String> calls = new ConcurrentLinkedQueue<>();
        MessageDispatcher<String> dispatcher = dispatcher(AT_ONCE, MessageId.header("id"), (claim, value, message) -> {
            calls.add(value);
            if (value.equals("a")) {
                throw new IllegalStateException("the line went dead");
            }
        });
        assertThat(dispatcher.work(List.of(pending(dispatcher, "a")))).isEmpty();
        Key key = Key.of(new MessageIdentity("topic", "a").source("group"), "ship", "a")
                .in(Scope.OPERATION);
        Entry entry = once.find(key).orElseThrow();
        // As a newer release would write it.
        byte[] result = {99, 'V'};
        memory.resolve(List.of(new Resolution(
                key.entryId(), entry.createdAt(), entry.attempt(), State.COMPLETED, result, "test", "found")));
        PendingMessage<String> again = pending(dispatcher, "a");
        PendingMessage<String> other = pending(dispatcher, "b");
        assertThat(dispatcher.work(List.of(again, other))).containsExactly(other);
        assertThat(dispatcher.work(List.of(again))).isEmpty();
        assertThat(dispatcher.work(List.of(again))).containsExactly(again);
        assertThat(dead).containsOnlyKeys(DeadLetterReason.TRIES_EXHAUSTED);
        assertThat(calls).containsExactly("a", "b");
    }

    @Test
    @DisplayName("N4 waits with growing pauses while the store is down, and no message loses a try")
    void storeDown() {
        MessageDispatcher<String> dispatcher = dispatcher(SLOW, MessageId.header("id"), (claim, value, message) -> {});
        List<PendingMessage<String>> messages = List.of(pending(dispatcher, "a"), pending(dispatcher, "b"));
        storeDown.set(true);
        assertThat(dispatcher.work(messages)).isEmpty();
        assertThat(messages).allSatisfy(pending -> {
            assertThat(pending.tries()).isZero();
            assertThat(pending.dueNanos() - dispatcher.now())
                    .isGreaterThan(Duration.ofMinutes(10).toNanos());
        });
        storeDown.set(false);
        Set<PendingMessage<String>> done = new HashSet<>();
        long begun = System.nanoTime();
        while (done.size() < 2 && System.nanoTime() - begun < HOUR.toNanos() / 60) {
            done.addAll(dispatcher.work(
                    messages.stream().filter(pending -> !done.contains(pending)).toList()));
        }
        assertThat(dispatcher.counts()).isEqualTo(new MessageCounts(2, 0, 0, 0, 0));
    }

    @Test
    @DisplayName("N4 gives up a message whose id cannot be read, even for an error, and applies its neighbours")
    void errorInId() {
        MessageId ids = message -> {
            if (message.body().length > 1) {
                throw new StackOverflowError();
            }
            return MessageId.header("id").find(message);
        };
        MessageDispatcher<String> dispatcher = dispatcher(AT_ONCE, ids, (claim, value, message) -> {});
        assertThat(dispatcher.work(List.of(pending(dispatcher, "deep"), pending(dispatcher, "b"))))
                .hasSize(2);
        assertThat(dead).containsOnlyKeys(DeadLetterReason.UNDECODABLE);
        assertThat(dispatcher.counts()).isEqualTo(new MessageCounts(1, 0, 0, 1, 0));
    }

    @Test
    @DisplayName("refuses a leased handler for an operation of another way before a message can fail because of it")
    void wrongWay() {
        once.registry().policy("pay", Way.TRANSACTIONAL);
        assertThatThrownBy(() -> new Builder(once).leased("pay", (claim, value, message) -> {}))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("pay");
        assertThatThrownBy(() -> new Builder(once).leased("a\nb", (claim, value, message) -> {}))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @DisplayName("N4 tries what certainly did not happen again, and gives it up after the last try")
    void notExecuted() {
        MessageDispatcher<String> dispatcher = dispatcher(AT_ONCE, MessageId.header("id"), (claim, value, message) -> {
            throw new NotExecuted("busy");
        });
        PendingMessage<String> pending = pending(dispatcher, "a");
        assertThat(dispatcher.work(List.of(pending))).isEmpty();
        assertThat(dispatcher.work(List.of(pending))).isEmpty();
        assertThat(dispatcher.work(List.of(pending))).containsExactly(pending);
        assertThat(dead).containsOnlyKeys(DeadLetterReason.TRIES_EXHAUSTED);
    }

    private static PendingMessage<String> pending(MessageDispatcher<String> dispatcher, String topic, String id) {
        byte[] bytes = id.getBytes(StandardCharsets.UTF_8);
        List<MessageHeader> headers = List.of(new MessageHeader("id", bytes));
        return dispatcher.receive(new ReceivedMessage(topic, "1", headers, bytes), null, id);
    }

    /** As a consumer would. */
    private static void workUntil(
            MessageDispatcher<String> dispatcher, List<PendingMessage<String>> messages, BooleanSupplier end) {
        long begun = System.nanoTime();
        while (!end.getAsBoolean()) {
            assertThat(System.nanoTime() - begun).isLessThan(HOUR.toNanos());
            messages.removeAll(dispatcher.work(messages.stream()
                    .filter(pending -> pending.isDue(dispatcher.now()))
                    .toList()));
        }
    }

    @Test
    @DisplayName(
            "N7 replaces threads of handlers that never return, a bounded number of them, and no other topic waits")
    void stuckThreads() {
        CountDownLatch end = new CountDownLatch(1);
        Queue<String> calls = new ConcurrentLinkedQueue<>();
        MessageDispatcher<String> dispatcher = new Builder(once)
                .id(MessageId.header("id"))
                .retries(AT_ONCE)
                .concurrency(2)
                .handlerMax(Duration.ofMillis(50))
                .leased("ship", (claim, value, message) -> {
                    calls.add(value);
                    while (value.startsWith("stuck") && end.getCount() > 0) {
                        Thread.onSpinWait();
                    }
                });
        try {
            List<PendingMessage<String>> messages = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                messages.add(pending(dispatcher, "slow", "stuck" + i));
            }
            workUntil(dispatcher, messages, () -> dispatcher.counts().dead() == 2);
            PendingMessage<String> other = pending(dispatcher, "quick", "other");
            messages.add(other);
            workUntil(dispatcher, messages, () -> dispatcher.counts().applied() == 1);
            assertThat(calls).containsExactlyInAnyOrder("stuck0", "stuck1", "other");
            assertThat(dead.get(DeadLetterReason.OUTCOME_UNKNOWN)).containsExactlyInAnyOrder("stuck0", "stuck1");
            assertThat(dispatcher.counts().hung()).isEqualTo(2);
            assertThat(dispatcher.hung()).containsExactly(Map.entry("slow", 2));
            end.countDown();
            workUntil(dispatcher, messages, () -> dispatcher.counts().applied() == 4);
            assertThat(dispatcher.hung()).isEmpty();
            assertThat(calls).contains("stuck2", "stuck3", "stuck4").doesNotHaveDuplicates();
        } finally {
            end.countDown();
        }
    }

    @Test
    @DisplayName("N7 D4 a leased handler that was interrupted is in doubt, also if it says that it did nothing")
    void interrupted() {
        CountDownLatch never = new CountDownLatch(1);
        Queue<String> calls = new ConcurrentLinkedQueue<>();
        MessageDispatcher<String> dispatcher = new Builder(once)
                .id(MessageId.header("id"))
                .retries(AT_ONCE)
                .handlerMax(Duration.ofMillis(50))
                .leased("ship", (claim, value, message) -> {
                    calls.add(value);
                    try {
                        never.await();
                    } catch (InterruptedException e) {
                        throw new NotExecuted("interrupted", e);
                    }
                });
        List<PendingMessage<String>> messages = new ArrayList<>(List.of(pending(dispatcher, "a")));
        workUntil(dispatcher, messages, () -> dispatcher.counts().dead() == 1);
        assertThat(dead).containsOnlyKeys(DeadLetterReason.OUTCOME_UNKNOWN);
        assertThat(calls).containsExactly("a");
    }
}
