package dev.onlyonce.payments.storm;

import dev.onlyonce.store.Time;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs bookkeepers in processes of their own, kills one after the other with SIGKILL, and bounces the broker, until it is closed. Then none
 * of its processes is left.
 */
public final class Havoc implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Havoc.class);

    private final Plan plan;
    private final Broker broker;
    private final List<Process> bookkeepers = new ArrayList<>();
    private final CompletableFuture<Void> over = new CompletableFuture<>();
    private final Thread thread = new Thread(this::run, "havoc");
    private final AtomicInteger kills = new AtomicInteger();
    private final AtomicInteger bounces = new AtomicInteger();
    private volatile @Nullable Exception failure;

    /**
     * What is killed how often.
     *
     * @param bookkeeper the command line of a bookkeeper; its {@code --name} is added
     * @param bookkeepers how many run at the same time
     * @param killEvery how long, about, one may live after the last kill
     * @param bounceEvery after how many kills the broker is bounced; 0: never
     * @param seed chooses victims and moments
     */
    public record Plan(List<String> bookkeeper, int bookkeepers, Duration killEvery, int bounceEvery, long seed) {}

    /** Takes the broker down and brings it up again. */
    @FunctionalInterface
    public interface Broker {
        /** Returns when it is up again. */
        void bounce() throws IOException, InterruptedException;
    }

    /** Begins. */
    public Havoc(Plan plan, Broker broker) {
        this.plan = plan;
        this.broker = broker;
        Runtime.getRuntime().addShutdownHook(new Thread(this::killAll));
        for (int i = 0; i < plan.bookkeepers; i++) {
            bookkeepers.add(launch(i));
        }
        thread.setDaemon(true);
        thread.start();
    }

    /** The command line of a bookkeeper in this program, whose main class is given. */
    static List<String> bookkeeper(Class<?> program, String db, String broker) {
        String classPath = System.getProperty("java.class.path", "");
        List<String> command = new ArrayList<>();
        command.add(ProcessHandle.current().info().command().orElse("java"));
        command.addAll(List.of("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        boolean jar = classPath.endsWith(".jar") && !classPath.contains(File.pathSeparator);
        command.addAll(jar ? List.of("-jar", classPath) : List.of("-cp", classPath, program.getName()));
        command.addAll(List.of("bookkeeper", "--db", db, "--broker", broker));
        return command;
    }

    /** How often a bookkeeper was killed. */
    public int kills() {
        return kills.get();
    }

    /** How often the broker was bounced. */
    public int bounces() {
        return bounces.get();
    }

    private synchronized Process launch(int number) {
        List<String> command = new ArrayList<>(plan.bookkeeper);
        command.addAll(List.of("--name", "bookkeeper-" + number));
        try {
            return new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void run() {
        SplittableRandom random = new SplittableRandom(plan.seed);
        try (Time time = Time.system()) {
            while (!over.isDone()) {
                Duration pause = Duration.ofMillis(
                        plan.killEvery.toMillis() / 2 + random.nextLong(plan.killEvery.toMillis() + 1));
                if (time.await(over, pause)) {
                    return;
                }
                kill(random.nextInt(plan.bookkeepers));
                if (plan.bounceEvery > 0 && kills.get() % plan.bounceEvery == 0) {
                    broker.bounce();
                    bounces.incrementAndGet();
                }
            }
        } catch (IOException | RuntimeException e) {
            log.debug("The havoc ends early", e);
            failure = e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized void kill(int victim) throws InterruptedException {
        if (over.isDone()) {
            return;
        }
        Process killed = bookkeepers.get(victim);
        if (!killed.isAlive()) {
            throw new IllegalStateException("a bookkeeper ended by itself with " + killed.exitValue());
        }
        killed.destroyForcibly();
        killed.waitFor();
        kills.incrementAndGet();
        bookkeepers.set(victim, launch(victim));
    }

    /**
     * Kills no more; the bookkeepers that run go on until {@link #close}.
     *
     * @throws IllegalStateException if a bookkeeper ended by itself, or the broker could not be bounced
     */
    public void calm() throws InterruptedException {
        over.complete(null);
        thread.join();
        Exception early = failure;
        if (early != null) {
            throw new IllegalStateException("Bookkeepers were not killed to the end: " + early.getMessage(), early);
        }
    }

    private synchronized void killAll() {
        bookkeepers.forEach(Process::destroyForcibly);
    }

    @Override
    public void close() {
        over.complete(null);
        killAll();
    }
}
