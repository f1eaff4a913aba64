package dev.onlyonce.prove;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.prove.CheckRig.Answer;
import dev.onlyonce.prove.CheckRig.Ask;
import dev.onlyonce.prove.Checklist.Evidence;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** Deletes expired keys while two gateways serve requests. */
record CheckReaper(CheckRig rig) {
    private static final int KEYS = 500;
    private static final int TRIES = 100;

    Evidence look() throws InterruptedException {
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger served = new AtomicInteger();
        AtomicInteger failed = new AtomicInteger();
        Thread load = new Thread(() -> {
            for (int i = 0; !over.get(); i++) {
                Answer answer = rig.send(new Ask(i % 2, "load-" + i));
                (answer.status() == 200 ? served : failed).incrementAndGet();
            }
        });
        int left = KEYS;
        boolean kept;
        try (StoreAccess access = StoreAccess.open(rig.url());
                Onlyonce once = Onlyonce.builder(access.store())
                        .node("reaper")
                        .purgeEvery(Duration.ofSeconds(1))
                        .operation("expires", o -> o.retention(Duration.ofSeconds(1)))
                        .build()) {
            for (int i = 0; i < KEYS; i++) {
                execute(once, "expires", i);
            }
            execute(once, "stays", 0);
            load.start();
            for (int i = 0; i < TRIES && left > 0; i++) {
                Pause.millis(200);
                left = once.operator().countStored("reaped", KEYS);
            }
            kept = execute(once, "stays", 0) instanceof Outcome.Replayed;
        } finally {
            over.set(true);
        }
        load.join();
        return new Evidence(
                KEYS + " expired keys, " + left + " left; meanwhile " + served + " requests served, " + failed
                        + " failed; a key within its retention " + (kept ? "still answers" : "is gone"),
                left == 0 && failed.get() == 0 && served.get() > 0 && kept);
    }

    private static Outcome<String> execute(Onlyonce once, String operation, int number) {
        return once.execute(
                Key.of(operation.equals("stays") ? "kept" : "reaped", operation, "key-" + number),
                Fingerprint.of(new byte[0]),
                Codec.text(),
                claim -> "done");
    }
}
