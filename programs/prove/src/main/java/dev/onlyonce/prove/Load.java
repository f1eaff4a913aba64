package dev.onlyonce.prove;

import dev.onlyonce.prove.Seen.Asked;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.TimeUnit;

/** Clients that keep their keys: each repeats its requests until they are answered, and some afterwards, at any node. */
final class Load implements AutoCloseable {
    private static final List<String> TENANTS = List.of("acme", "globex", "initech");
    private static final int ROUNDS_APART = 10_000;
    private static final int OPEN_MAX = 24;
    private static final int ANSWERS_WANTED = 3;
    private static final int EVICTABLE_ONE_IN = 2;
    private static final int MISUSE_ONE_IN = 12;
    private static final int IMPATIENT_ONE_IN = 15;
    private static final int IMPATIENT_MILLIS_MAX = 300;
    private static final int DRAIN_THREADS_MIN = 8;
    private static final long WAIT_MAX_MILLIS = 2 * Timing.RETRY_EVERY.toMillis();
    private static final int PAUSE_MILLIS_MAX = 30;
    private static final int UNAVAILABLE = 503;

    private final List<NodeProcess> nodes;
    private final History history;
    private final List<Work.Way> ways;
    private final Random random;
    private final List<String> tenants;
    private final List<Item> open = new ArrayList<>();
    private final List<Item> done = Collections.synchronizedList(new ArrayList<>());
    private final List<Thread> threads = new ArrayList<>();
    private final ConcurrentLinkedQueue<Throwable> broken = new ConcurrentLinkedQueue<>();
    private int made;
    private volatile boolean stopped;

    Load(List<NodeProcess> nodes, History history, List<Work.Way> ways, long seed) {
        this.nodes = nodes;
        this.history = history;
        this.ways = ways;
        this.random = new Random(seed + 3);
        // Rounds may share a store.
        this.tenants = TENANTS.stream()
                .map(tenant -> tenant + "-" + seed % ROUNDS_APART)
                .toList();
    }

    void start(int clients) {
        for (int i = 0; i < clients; i++) {
            threads.add(start(this::work));
        }
    }

    private Thread start(Turn work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (RuntimeException | Error e) {
                broken.add(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private interface Turn {
        void run() throws InterruptedException;
    }

    private void work() throws InterruptedException {
        while (!stopped) {
            Item item = pick();
            boolean misuse = !item.evictable && item.hasEntry() && oneIn(item.isUnknown() ? 2 : MISUSE_ONE_IN);
            ask(item, misuse ? "steal " + item.work.name() : item.work.body(), patience());
            if (item.answers() >= ANSWERS_WANTED) {
                close(item);
            }
            Pause.millis(random(PAUSE_MILLIS_MAX));
        }
    }

    /** Some clients hang up early, and never learn what became of their request. */
    private Duration patience() {
        return oneIn(IMPATIENT_ONE_IN) ? Duration.ofMillis(1 + random(IMPATIENT_MILLIS_MAX)) : Timing.ANSWER_MAX;
    }

    /** Asks any node; empty if that is down. */
    private Optional<Asked> ask(Item item, String body, Duration max) throws InterruptedException {
        List<NodeProcess> able =
                nodes.stream().filter(node -> node.executes(item.work.way())).toList();
        NodeProcess node = able.get(random(able.size()));
        if (node.isUp()) {
            long since = item.asks();
            Asked asked = node.ask(item.work, body, max);
            history.add(asked);
            item.saw(asked, since);
            return Optional.of(asked);
        }
        Pause.millis(PAUSE_MILLIS_MAX);
        return Optional.empty();
    }

    private synchronized int random(int bound) {
        return random.nextInt(bound);
    }

    private synchronized boolean oneIn(int times) {
        return random.nextInt(times) == 0;
    }

    private synchronized Item pick() {
        if (open.size() < OPEN_MAX) {
            int number = made++;
            Work.Way way = ways.get(number / tenants.size() % ways.size());
            // All tenants use the same keys.
            String name = "k-" + number / tenants.size();
            boolean evictable =
                    (way == Work.Way.LEASED || way == Work.Way.TRANSACTIONAL) && random.nextInt(EVICTABLE_ONE_IN) == 0;
            Item item = new Item(new Work(tenants.get(number % tenants.size()), way, name), evictable);
            open.add(item);
            return item;
        }
        // Nobody knows what became of it: a good time for a misuse.
        List<Item> unknown = open.stream().filter(Item::isUnknown).toList();
        if (!unknown.isEmpty() && random.nextInt(4) == 0) {
            return unknown.get(random.nextInt(unknown.size()));
        }
        // At times a retry comes late.
        return !done.isEmpty() && random.nextInt(10) == 0
                ? done.get(random.nextInt(done.size()))
                : open.get(random.nextInt(open.size()));
    }

    private synchronized void close(Item item) {
        if (open.remove(item)) {
            done.add(item);
        }
    }

    /** All that was ever asked for. */
    synchronized List<Item> all() {
        List<Item> all = new ArrayList<>(open);
        synchronized (done) {
            all.addAll(done);
        }
        return all;
    }

    /** Something that an operator may evict: before all, what somebody still waits for. */
    synchronized Optional<Item> evictable() {
        List<Item> items = all().stream()
                .filter(item -> item.evictable && item.answers() > 0)
                .toList();
        List<Item> awaited = items.stream().filter(Item::isAwaited).toList();
        List<Item> these = awaited.isEmpty() ? items : awaited;
        return these.isEmpty() ? Optional.empty() : Optional.of(these.get(random.nextInt(these.size())));
    }

    /** Something that an operator may settle by hand. */
    synchronized Optional<Item> unknown() {
        List<Item> items = all().stream()
                .filter(item -> item.work.way() == Work.Way.LEASED && item.isUnknown())
                .toList();
        return items.isEmpty() ? Optional.empty() : Optional.of(items.get(random.nextInt(items.size())));
    }

    /** Its key is as new: clients go on asking. */
    synchronized void reopen(Item item) {
        item.evicted();
        if (done.remove(item)) {
            open.add(item);
        }
    }

    /** Ends the load. */
    void stop() throws InterruptedException {
        stopped = true;
        for (Thread thread : threads) {
            thread.join(TimeUnit.SECONDS.toMillis(20));
        }
        if (!broken.isEmpty()) {
            throw new IllegalStateException("the load broke", broken.peek());
        }
    }

    /**
     * Asks for everything until it is answered once more, each a second after its last answer and no more at a time than clients did before.
     * When nothing fails any more, every key must end, and what was answered must still be known. And every node must serve again.
     *
     * @return how long it took
     */
    Drained drain(int clients) throws InterruptedException {
        long begun = System.nanoTime();
        DelayQueue<Retry> open = new DelayQueue<>();
        all().forEach(item -> {
            item.begin();
            open.add(new Retry(item, begun));
        });
        Thread[] askers = new Thread[Math.max(clients, DRAIN_THREADS_MIN)];
        for (int i = 0; i < askers.length; i++) {
            askers[i] = start(() -> retry(open, begun));
        }
        for (Thread asker : askers) {
            asker.join();
        }
        return new Drained(System.nanoTime() - begun, silent(begun));
    }

    /**
     * What became of the keys.
     *
     * @param silent nodes that serve nobody any more
     */
    record Drained(long nanos, List<Checker.Violation> silent) {}

    private void retry(DelayQueue<Retry> open, long begun) throws InterruptedException {
        Retry next = open.poll(WAIT_MAX_MILLIS, TimeUnit.MILLISECONDS);
        while (next != null && mayBeSlow(begun)) {
            Item item = next.item;
            Optional<Asked> asked = ask(item, item.work.body(), Timing.ANSWER_MAX_AFTERWARDS);
            // A store that is too slow to answer says nothing about the key.
            if (asked.isPresent() && isServed(asked.get())) {
                item.retried();
            }
            if (!item.isEnded() && !item.isStuck()) {
                open.add(new Retry(item, System.nanoTime() + Timing.RETRY_EVERY.toNanos()));
            }
            next = open.poll(WAIT_MAX_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    private static boolean isServed(Asked asked) {
        return asked.status() != 0 && asked.status() != UNAVAILABLE;
    }

    private static boolean mayBeSlow(long begun) {
        return System.nanoTime() - begun < Timing.RETRIES_MAX.toNanos();
    }

    /** Nodes that still answer nothing, or that the store is down, after as many retries as a key may take to end. */
    private List<Checker.Violation> silent(long begun) throws InterruptedException {
        List<Checker.Violation> silent = new ArrayList<>();
        for (NodeProcess node : nodes) {
            Optional<Item> some = all().stream()
                    .filter(item -> item.isEnded() && node.executes(item.work.way()))
                    .findFirst();
            if (some.isPresent() && !serves(node, some.get().work, begun) && mayBeSlow(begun)) {
                silent.add(new Checker.Violation(
                        some.get().work,
                        node.name() + " served nobody in " + Timing.STUCK_RETRIES
                                + " tries after everything was healed"));
            }
        }
        return silent;
    }

    private boolean serves(NodeProcess node, Work work, long begun) throws InterruptedException {
        boolean serves = false;
        for (int i = 0; !serves && i < Timing.STUCK_RETRIES && mayBeSlow(begun); i++) {
            Asked asked = node.ask(work, work.body(), Timing.ANSWER_MAX_AFTERWARDS);
            history.add(asked);
            serves = isServed(asked);
            Pause.millis(serves ? 0 : Timing.RETRY_EVERY.toMillis());
        }
        return serves;
    }

    /** An item that is asked for again at a time. */
    private record Retry(Item item, long at) implements Delayed {
        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(at - System.nanoTime(), TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            return Long.compare(at, ((Retry) other).at);
        }
    }

    @Override
    public void close() {
        stopped = true;
    }
}
