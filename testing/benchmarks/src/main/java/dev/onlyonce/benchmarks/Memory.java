package dev.onlyonce.benchmarks;

import dev.onlyonce.Begun;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.store.Store;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** 100,000 claims that are open at once, in a process with 256 MiB of heap. */
final class Memory {
    private static final int CLAIMS = 100_000;
    private static final int THREADS = 64;
    static final String CHILD = "memory-child";

    private final Report report;

    Memory(Report report) {
        this.report = report;
    }

    void run() throws Exception {
        report.title(CLAIMS + " live claims in a heap of 256 MiB, on SQLite");
        String java = ProcessHandle.current().info().command().orElse("java");
        Process child = new ProcessBuilder(
                        java, "-Xmx256m", "-cp", System.getProperty("java.class.path"), Main.class.getName(), CHILD)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String answer = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (child.waitFor() != 0) {
            throw new IllegalStateException("it did not fit: " + answer);
        }
        report.header("live claims", "heap used, MiB", "bytes a claim");
        report.line("%s", answer.strip());
    }

    /** Runs in the small heap and returns a row of the table. */
    static String measure() throws Exception {
        try (Databases databases = new Databases()) {
            String url = databases.create(Databases.Kind.SQLITE);
            try (Store store = databases.store(Databases.Kind.SQLITE, url);
                    Onlyonce once = Onlyonce.builder(store)
                            .lease(Duration.ofMinutes(10))
                            .build()) {
                long before = used();
                Queue<Begun> claims = claim(once);
                long after = used();
                if (once.liveClaims() != CLAIMS || claims.size() != CLAIMS) {
                    throw new IllegalStateException("only " + once.liveClaims() + " claims are live");
                }
                return String.format("| %d | **%d** | %d |", CLAIMS, after >> 20, (after - before) / CLAIMS);
            }
        }
    }

    private static Queue<Begun> claim(Onlyonce once) throws Exception {
        Queue<Begun> claims = new ConcurrentLinkedQueue<>();
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        List<Future<?>> running = new ArrayList<>();
        for (int thread = 0; thread < THREADS; thread++) {
            int share = CLAIMS / THREADS + (thread < CLAIMS % THREADS ? 1 : 0);
            running.add(threads.submit(() -> {
                for (int i = 0; i < share; i++) {
                    Key key = Key.of(Work.TENANT, Work.OPERATION, Work.newKey());
                    claims.add(once.begin(key, Work.FINGERPRINT));
                }
            }));
        }
        for (Future<?> share : running) {
            share.get();
        }
        threads.shutdown();
        return claims;
    }

    private static long used() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }
}
