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
class DeskTest {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final RetryLimits AT_ONCE = new RetryLimits(3, Duration.ZERO, Duration.ZERO, HOUR);
    private static final RetryLimits SLOW = new RetryLimits(3, HOUR, HOUR, HOUR);

    private final Time time = Time.system();
    private final MemoryStore memory = new MemoryStore(time);
    private final AtomicBoolean storeDown = new AtomicBoolean();
    private final Onlyonce once = Onlyonce.builder(store()).time(time).build();
    private final Map<DeadLetterReason, List<String>> dead = new EnumMap<>(DeadLetterReason.class);
    private final List<Desk<String>> desks = new ArrayList<>();

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
        desks.forEach(Desk::close);
        once.close();
        time.close();
    }

    /** Remembers the bodies of dead letters. */
    private final class Box implements DeadLetters<String> {
        @Override
        public Set<Letter<String>> send(Map<Letter<String>, PoisonMessage> letters) {
            letters.forEach((letter, why) -> dead.computeIfAbsent(why.reason(), reason -> new ArrayList<>())
                    .add(letter.record()));
            return letters.keySet();
        }

        @Override
        public void close() {}
    }

    private final class Builder extends InboxBuilder<String, Builder, Desk<String>> {
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
        protected Desk<String> build(Desk.Rules rules) {
            Desk<String> desk = new Desk<>(rules, new Box());
            desks.add(desk);
            return desk;
        }
    }

    private Desk<String> desk(RetryLimits retries, MessageId ids, LeasedHandler<String> handler) {
        return new Builder(once).id(ids).retries(retries).leased("ship", handler);
    }

    private static Letter<String> letter(Desk<String> desk, String id) {
        return letter(desk, "topic", id);
    }

    @Test
    @DisplayName("N4 keeps a message whose outcome is unknown, so that it can be sent again if nothing happened")
    void unknown() {
        Queue<String> calls = new ConcurrentLinkedQueue<>();
        Desk<String> desk = desk(AT_ONCE, MessageId.header("id"), (claim, value, message) -> {
            calls.add(value);
            if (calls.size() == 1) {
                throw new IllegalStateException("the line went dead");
            }
        });
        Letter<String> letter = letter(desk, "a");
        assertThat(desk.work(List.of(letter))).isEmpty();
        assertThat(desk.work(List.of(letter))).containsExactly(letter);
        assertThat(dead).containsOnlyKeys(DeadLetterReason.OUTCOME_UNKNOWN);
        assertThat(desk.counts()).isEqualTo(new MessageCounts(0, 0, 1, 1, 0));
        // The reconciler finds that nothing happened, and the dead letter is sent again.
        Key key = Key.of(new MessageIdentity("topic", "a").source("group"), "ship", "a")
                .in(Scope.OPERATION);
        Entry entry = once.find(key).orElseThrow();
        once.operator()
                .resolve(new Resolution(
                        key.entryId(), entry.createdAt(), entry.attempt(), State.RETRYABLE, null, "test", "absent"));
        Letter<String> again = letter(desk, "a");
        assertThat(desk.work(List.of(again))).containsExactly(again);
        assertThat(desk.counts().applied()).isEqualTo(1);
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
            Desk<String> desk = new Builder(watched)
                    .id(MessageId.header("id"))
                    .retries(AT_ONCE)
                    .leased("ship", (claim, value, message) -> {});
            for (String id : List.of("a", "b", "c")) {
                List<Letter<String>> letters = new ArrayList<>(List.of(letter(desk, id)));
                workUntil(desk, letters, letters::isEmpty);
            }
            assertThat(desk.counts().applied()).isEqualTo(3);
            workUntil(desk, new ArrayList<>(), () -> !heard.isEmpty());
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
            Desk<String> desk = new Builder(watched)
                    .id(MessageId.header("id"))
                    .retries(AT_ONCE)
                    .leased("ship", (claim, value, message) -> {
                        throw new PoisonMessage("no such account");
                    });
            Letter<String> letter = letter(desk, "a");
            List<Letter<String>> letters = new ArrayList<>(List.of(letter));
            workUntil(desk, letters, () -> !heard.isEmpty());
            Event.GivenUp message = heard.remove();
            assertThat(message.text()).isEqualTo("no such account");
            assertThat(message.reason()).isEqualTo("rejected");
            assertThat(message.coordinates()).isEqualTo(letter.message().coordinates());
            assertThat(message.body()).isEqualTo(letter.message().body());
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
        Desk<String> desk = desk(AT_ONCE, MessageId.header("id"), (claim, value, message) -> {});
        Letter<String> letter = letter(desk, "a");
        desk.close();
        assertThatThrownBy(() -> desk.work(List.of(letter))).isInstanceOf(RejectedExecutionException.class);
        assertThat(letter.isRunning()).isFalse();
        assertThat(desk.finish()).isEmpty();
    }

    @Test
    @DisplayName("N4 gives up a message whose entry cannot be read after its tries, and applies the others")
    void unreadableEntry() {
        Queue<String> calls = new ConcurrentLinkedQueue<>();
        Desk<String> desk = desk(AT_ONCE, MessageId.header("id"), (claim, value, message) -> {
            calls.add(value);
            if (value.equals("a")) {
                throw new IllegalStateException("the line went dead");
            }
        });
        assertThat(desk.work(List.of(letter(desk, "a")))).isEmpty();
        Key key = Key.of(new MessageIdentity("topic", "a").source("group"), "ship", "a")
                .in(Scope.OPERATION);
        Entry entry = once.find(key).orElseThrow();
        // As a newer release would write it.
        byte[] result = {99, 'V'};
        memory.resolve(List.of(new Resolution(
                key.entryId(), entry.createdAt(), entry.attempt(), State.COMPLETED, result, "test", "found")));
        Letter<String> again = letter(desk, "a");
        Letter<String> other = letter(desk, "b");
        assertThat(desk.work(List.of(again, other))).containsExactly(other);
        assertThat(desk.work(List.of(again))).isEmpty();
        assertThat(desk.work(List.of(again))).containsExactly(again);
        assertThat(dead).containsOnlyKeys(DeadLetterReason.TRIES_EXHAUSTED);
        assertThat(calls).containsExactly("a", "b");
    }

    @Test
    @DisplayName("N4 waits with growing pauses while the store is down, and no message loses a try")
    void storeDown() {
        Desk<String> desk = desk(SLOW, MessageId.header("id"), (claim, value, message) -> {});
        List<Letter<String>> letters = List.of(letter(desk, "a"), letter(desk, "b"));
        storeDown.set(true);
        assertThat(desk.work(letters)).isEmpty();
        assertThat(letters).allSatisfy(letter -> {
            assertThat(letter.tries()).isZero();
            assertThat(letter.dueNanos() - desk.now())
                    .isGreaterThan(Duration.ofMinutes(10).toNanos());
        });
        storeDown.set(false);
        Set<Letter<String>> done = new HashSet<>();
        long begun = System.nanoTime();
        while (done.size() < 2 && System.nanoTime() - begun < HOUR.toNanos() / 60) {
            done.addAll(desk.work(
                    letters.stream().filter(letter -> !done.contains(letter)).toList()));
        }
        assertThat(desk.counts()).isEqualTo(new MessageCounts(2, 0, 0, 0, 0));
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
        Desk<String> desk = desk(AT_ONCE, ids, (claim, value, message) -> {});
        assertThat(desk.work(List.of(letter(desk, "deep"), letter(desk, "b")))).hasSize(2);
        assertThat(dead).containsOnlyKeys(DeadLetterReason.UNDECODABLE);
        assertThat(desk.counts()).isEqualTo(new MessageCounts(1, 0, 0, 1, 0));
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
        Desk<String> desk = desk(AT_ONCE, MessageId.header("id"), (claim, value, message) -> {
            throw new NotExecuted("busy");
        });
        Letter<String> letter = letter(desk, "a");
        assertThat(desk.work(List.of(letter))).isEmpty();
        assertThat(desk.work(List.of(letter))).isEmpty();
        assertThat(desk.work(List.of(letter))).containsExactly(letter);
        assertThat(dead).containsOnlyKeys(DeadLetterReason.TRIES_EXHAUSTED);
    }

    private static Letter<String> letter(Desk<String> desk, String topic, String id) {
        byte[] bytes = id.getBytes(StandardCharsets.UTF_8);
        List<MessageHeader> headers = List.of(new MessageHeader("id", bytes));
        return desk.receive(new ReceivedMessage(topic, "1", headers, bytes), null, id);
    }

    /** As a consumer would. */
    private static void workUntil(Desk<String> desk, List<Letter<String>> letters, BooleanSupplier end) {
        long begun = System.nanoTime();
        while (!end.getAsBoolean()) {
            assertThat(System.nanoTime() - begun).isLessThan(HOUR.toNanos());
            letters.removeAll(desk.work(
                    letters.stream().filter(letter -> letter.isDue(desk.now())).toList()));
        }
    }

    @Test
    @DisplayName(
            "N7 replaces threads of handlers that never return, a bounded number of them, and no other topic waits")
    void stuckThreads() {
        CountDownLatch end = new CountDownLatch(1);
        Queue<String> calls = new ConcurrentLinkedQueue<>();
        Desk<String> desk = new Builder(once)
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
            List<Letter<String>> letters = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                letters.add(letter(desk, "slow", "stuck" + i));
            }
            workUntil(desk, letters, () -> desk.counts().dead() == 2);
            Letter<String> other = letter(desk, "quick", "other");
            letters.add(other);
            workUntil(desk, letters, () -> desk.counts().applied() == 1);
            assertThat(calls).containsExactlyInAnyOrder("stuck0", "stuck1", "other");
            assertThat(dead.get(DeadLetterReason.OUTCOME_UNKNOWN)).containsExactlyInAnyOrder("stuck0", "stuck1");
            assertThat(desk.counts().hung()).isEqualTo(2);
            assertThat(desk.hung()).containsExactly(Map.entry("slow", 2));
            end.countDown();
            workUntil(desk, letters, () -> desk.counts().applied() == 4);
            assertThat(desk.hung()).isEmpty();
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
        Desk<String> desk = new Builder(once)
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
        List<Letter<String>> letters = new ArrayList<>(List.of(letter(desk, "a")));
        workUntil(desk, letters, () -> desk.counts().dead() == 1);
        assertThat(dead).containsOnlyKeys(DeadLetterReason.OUTCOME_UNKNOWN);
        assertThat(calls).containsExactly("a");
    }
}
