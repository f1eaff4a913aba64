package dev.onlyonce.prove;

import dev.onlyonce.prove.CheckRig.Answer;
import dev.onlyonce.prove.CheckRig.Ask;
import dev.onlyonce.prove.Checklist.Evidence;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The items of the checklist for which something is killed or stopped. */
final class CheckOutages {
    private static final int STUCK_SECONDS_MAX = 20;
    private static final int END_TRIES = 150;
    private static final int TRY_MILLIS = 200;
    private static final String OTHER_BODY = "{\"cents\":1}";

    private final CheckRig rig;
    private final CheckedService service;

    CheckOutages(CheckRig rig) {
        this.rig = rig;
        this.service = rig.service();
    }

    Evidence mismatch() throws Exception {
        List<String> seen = new ArrayList<>();
        CompletableFuture<Answer> running = rig.begin(new Ask(0, "running-key").act(CheckedService.HOLD));
        service.awaitHeld("running-key");
        boolean passed = refused(seen, "running", "running-key");
        service.release("running-key");
        running.join();
        passed &= refused(seen, "completed", "running-key");
        rig.send(new Ask(0, "retryable-key").act(CheckedService.FAIL_FIRST));
        passed &= refused(seen, "retryable", "retryable-key");
        passed &= service.effects("retryable-key") == 0;
        // Killed before its effect can be found: the look-up asks for another name.
        CompletableFuture<Answer> killed = rig.begin(new Ask(0, "unknown-key")
                .header(CheckedService.NAME, "unknown-name")
                .act(CheckedService.HOLD));
        service.awaitHeld("unknown-name");
        rig.gateway(0).kill();
        killed.join();
        Answer unknown = rig.send(new Ask(1, "unknown-key"));
        for (int i = 0; i < END_TRIES && !unknown.toString().contains("outcome_unknown"); i++) {
            Pause.millis(TRY_MILLIS);
            unknown = rig.send(new Ask(1, "unknown-key"));
        }
        passed &= unknown.toString().contains("outcome_unknown");
        passed &= refused(seen, "unknown", "unknown-key");
        service.release("unknown-name");
        restart();
        return new Evidence(String.join(", ", seen), passed);
    }

    private boolean refused(List<String> seen, String state, String key) {
        int before = service.effects(key);
        Answer answer = rig.send(new Ask(1, key).body(OTHER_BODY));
        seen.add(state + " " + answer);
        return answer.status() == 422 && service.effects(key) == before;
    }

    private void restart() throws Exception {
        rig.gateway(0).start();
        rig.awaitUp();
    }

    Evidence crash() throws Exception {
        CompletableFuture<Answer> first = rig.begin(new Ask(0, "crash-key").act(CheckedService.HOLD));
        service.awaitHeld("crash-key");
        rig.gateway(0).kill();
        Answer broken = first.join();
        long begun = System.nanoTime();
        Answer retry = rig.send(new Ask(1, "crash-key").act(CheckedService.HOLD));
        Answer last = retry;
        for (int i = 0; i < END_TRIES && last.status() != 200; i++) {
            Pause.millis(TRY_MILLIS);
            last = rig.send(new Ask(1, "crash-key").act(CheckedService.HOLD));
        }
        service.release("crash-key");
        restart();
        return new Evidence(
                "killed after the effect (the client got " + (broken.status() == 0 ? "no answer" : broken)
                        + "); at the other gateway " + retry + ", after " + seconds(begun) + " s " + last + " "
                        + last.body() + ": " + service.effects("crash-key") + " effect",
                last.status() == 200 && service.effects("crash-key") == 1);
    }

    private static String seconds(long begun) {
        return "%.1f".formatted((System.nanoTime() - begun) / 1e9);
    }

    Evidence stuck() throws Exception {
        CompletableFuture<Answer> first = rig.begin(new Ask(0, "stuck-key")
                .header(CheckedService.NAME, "stuck-name")
                .act(CheckedService.HOLD));
        service.awaitHeld("stuck-name");
        long begun = System.nanoTime();
        rig.gateway(0).kill();
        first.join();
        Answer answer = rig.send(new Ask(1, "stuck-key"));
        for (int i = 0; i < END_TRIES && answer.toString().contains("in_progress"); i++) {
            Pause.millis(TRY_MILLIS);
            answer = rig.send(new Ask(1, "stuck-key"));
        }
        String after = seconds(begun);
        service.release("stuck-name");
        restart();
        return new Evidence(
                "lease " + CheckRig.LEASE.toSeconds() + " s; " + after
                        + " s after the kill the key is no longer in progress: " + answer,
                !answer.toString().contains("in_progress")
                        && answer.status() != 0
                        && Double.parseDouble(after) < STUCK_SECONDS_MAX);
    }

    Evidence steps() throws Exception {
        Work work = new Work("acme", Work.Way.STEPPED, "stepped-key");
        String one = CheckedService.stepName(work.name(), "one");
        String two = CheckedService.stepName(work.name(), "two");
        CompletableFuture<Seen.Asked> first = CompletableFuture.supplyAsync(() -> ask(0, work));
        service.awaitHeld(two);
        rig.node(0).kill();
        first.join();
        service.release(two);
        Seen.Asked retry = ask(1, work);
        for (int i = 0; i < END_TRIES && retry.status() != 200; i++) {
            Pause.millis(TRY_MILLIS);
            retry = ask(1, work);
        }
        rig.node(0).start();
        rig.awaitUp();
        return new Evidence(
                "killed in step two, after its effect; the other node answered " + retry.status() + " " + retry.answer()
                        + ": step one ran " + service.effects(one) + " time, step two " + service.effects(two)
                        + " time",
                retry.status() == 200 && service.effects(one) == 1 && service.effects(two) == 1);
    }

    private Seen.Asked ask(int node, Work work) {
        try {
            return rig.node(node).ask(work, work.body(), Timing.ANSWER_MAX);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    Evidence storeDown() {
        rig.database().kill();
        Answer down = rig.send(new Ask(0, "down-key"));
        int effects = service.effects("down-key");
        rig.database().restart();
        Answer up = rig.send(new Ask(0, "down-key"));
        for (int i = 0; i < END_TRIES && up.status() != 200; i++) {
            Pause.millis(TRY_MILLIS);
            up = rig.send(new Ask(0, "down-key"));
        }
        return new Evidence(
                "database killed: " + down + (down.has("Retry-After") ? " with Retry-After" : "") + ", " + effects
                        + " effects; started again: " + up + ", " + service.effects("down-key") + " effect",
                down.status() == 503
                        && down.has("Retry-After")
                        && effects == 0
                        && up.status() == 200
                        && service.effects("down-key") == 1);
    }
}
