package dev.onlyonce.prove;

import dev.onlyonce.prove.CheckRig.Ask;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Two gateways under a steady load of fresh keys, replays and keys that expire; each minute, what they hold. */
final class Soak {
    private static final int CLIENTS = 6;
    private static final int PAUSE_MILLIS = 20;
    private static final Duration SAMPLE_EVERY = Duration.ofMinutes(1);

    private final Duration length;
    private final Consumer<String> told;

    Soak(Duration length, Consumer<String> told) {
        this.length = length;
        this.told = told;
    }

    void run(Path folder) throws IOException, InterruptedException, SQLException {
        AtomicBoolean over = new AtomicBoolean();
        AtomicLong served = new AtomicLong();
        AtomicLong failed = new AtomicLong();
        try (CheckRig rig = new CheckRig(folder)) {
            List<Thread> clients = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                int client = i;
                Thread thread = new Thread(() -> {
                    for (int n = 0; !over.get(); n++) {
                        Ask ask = new Ask(n % 2, "soak-" + client + "-" + n / 2)
                                .to("POST", client % 2 == 0 ? CheckRig.SHORT : CheckRig.PAY);
                        (rig.send(ask).status() == 200 ? served : failed).incrementAndGet();
                        Pause.millis(PAUSE_MILLIS);
                    }
                });
                thread.start();
                clients.add(thread);
            }
            long begun = System.nanoTime();
            told.accept(
                    "minute; gateway 0, 1: resident MB, threads, files; connections of the database; entries; served; failed");
            while (System.nanoTime() - begun < length.toNanos()) {
                Pause.millis(SAMPLE_EVERY.toMillis());
                sample(rig, (System.nanoTime() - begun) / SAMPLE_EVERY.toNanos(), served.get(), failed.get());
            }
            over.set(true);
            for (Thread client : clients) {
                client.join();
            }
        }
    }

    private void sample(CheckRig rig, long minute, long served, long failed) throws IOException, SQLException {
        ScaleTable table = new ScaleTable(rig.url());
        told.accept(minute + "; " + held(rig.gateway(0).pid()) + "; "
                + held(rig.gateway(1).pid()) + "; "
                + table.number("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'") + "; "
                + table.number("SELECT count(*) FROM onlyonce_entry") + "; " + served + "; " + failed);
    }

    private static String held(long process) throws IOException {
        Path about = Path.of("/proc", String.valueOf(process));
        List<String> status = Files.readAllLines(about.resolve("status"));
        try (Stream<Path> files = Files.list(about.resolve("fd"))) {
            return number(status, "VmRSS") / 1024 + ", " + number(status, "Threads") + ", " + files.count();
        }
    }

    private static long number(List<String> status, String name) {
        return status.stream()
                .filter(line -> line.startsWith(name + ":"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .findFirst()
                .orElseThrow();
    }
}
