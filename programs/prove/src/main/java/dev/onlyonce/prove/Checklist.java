package dev.onlyonce.prove;

import dev.onlyonce.prove.CheckRig.Answer;
import dev.onlyonce.prove.CheckRig.Ask;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** Checks item by item what the checklists of the field ask for, on two gateways and two nodes with one database. */
final class Checklist {
    private static final int SIMULTANEOUS = 40;

    private final CheckRig rig;
    private final CheckedService service;
    private final Map<CheckItem, Check> checks = new EnumMap<>(CheckItem.class);

    /** What an item showed. */
    record Result(CheckItem item, String evidence, boolean passed) {}

    /** What was seen, and whether it is right. */
    record Evidence(String text, boolean isRight) {}

    /** Looks at one item. */
    interface Check {
        Evidence look() throws Exception;
    }

    private Checklist(CheckRig rig) {
        this.rig = rig;
        this.service = rig.service();
        CheckOutages outages = new CheckOutages(rig);
        checks.put(CheckItem.ATOMIC, this::atomic);
        checks.put(CheckItem.INDEX, () -> new ClaimPlan(rig).look());
        checks.put(CheckItem.LOSERS, this::losers);
        checks.put(CheckItem.TENANTS, this::tenants);
        checks.put(CheckItem.REPLAY, this::replay);
        checks.put(CheckItem.MISMATCH, outages::mismatch);
        checks.put(CheckItem.MISSING, this::missing);
        checks.put(CheckItem.NATURAL, this::natural);
        checks.put(CheckItem.SERVER_ERROR, this::serverError);
        checks.put(CheckItem.CRASH, outages::crash);
        checks.put(CheckItem.STUCK, outages::stuck);
        checks.put(CheckItem.STEPS, outages::steps);
        checks.put(CheckItem.STORE_DOWN, outages::storeDown);
        checks.put(CheckItem.RETENTION, this::retention);
        checks.put(CheckItem.REAPER, () -> new CheckReaper(rig).look());
        checks.put(CheckItem.METRICS, this::metrics);
    }

    /** Runs all of it, and tells each result as it comes. */
    static List<Result> run(Path folder, Consumer<Result> told) throws IOException {
        List<Result> results = new ArrayList<>();
        try (CheckRig rig = new CheckRig(folder)) {
            new Checklist(rig).checks.forEach((item, check) -> {
                Result result = look(item, check);
                results.add(result);
                told.accept(result);
            });
        }
        return results;
    }

    private static Result look(CheckItem item, Check check) {
        try {
            Evidence evidence = check.look();
            return new Result(item, evidence.text(), evidence.isRight());
        } catch (Exception e) {
            return new Result(item, "could not be checked: " + e, false);
        }
    }

    private Evidence atomic() {
        List<CompletableFuture<Answer>> asked = new ArrayList<>();
        for (int i = 0; i < SIMULTANEOUS; i++) {
            asked.add(rig.begin(new Ask(i % 2, "atomic-key")));
        }
        List<Answer> answers = asked.stream().map(CompletableFuture::join).toList();
        boolean known = answers.stream().allMatch(answer -> answer.status() == 200 || answer.status() == 409);
        int effects = service.effects("atomic-key");
        return new Evidence(
                SIMULTANEOUS + " first requests at two gateways: " + effects + " effect, " + count(answers, 200)
                        + " times 200, " + count(answers, 409) + " times 409",
                known && effects == 1);
    }

    private static long count(List<Answer> answers, int status) {
        return answers.stream().filter(answer -> answer.status() == status).count();
    }

    private Evidence losers() throws InterruptedException {
        CompletableFuture<Answer> first = rig.begin(new Ask(0, "losers-key").act(CheckedService.HOLD));
        service.awaitHeld("losers-key");
        Answer loser = rig.send(new Ask(1, "losers-key").act(CheckedService.HOLD));
        service.release("losers-key");
        Answer winner = first.join();
        return new Evidence(
                "while the first one runs: " + loser + ", Retry-After "
                        + loser.headers().getOrDefault("retry-after", List.of("missing")) + "; the first one: "
                        + winner,
                loser.status() == 409
                        && loser.has("Retry-After")
                        && winner.status() == 200
                        && service.effects("losers-key") == 1);
    }

    private Evidence tenants() {
        Answer acme = rig.send(new Ask(0, "shared-key"));
        Answer globex = rig.send(new Ask(0, "shared-key").header("Tenant", "globex"));
        Answer again = rig.send(new Ask(1, "shared-key"));
        Answer otherAgain = rig.send(new Ask(1, "shared-key").header("Tenant", "globex"));
        return new Evidence(
                "acme got " + acme.body() + " twice, globex " + globex.body() + " twice",
                service.effects("shared-key") == 2
                        && again.body().equals(acme.body())
                        && otherAgain.body().equals(globex.body())
                        && !acme.body().equals(globex.body()));
    }

    private Evidence replay() {
        Answer first = rig.send(new Ask(0, "replay-key"));
        Answer retry = rig.send(new Ask(1, "replay-key"));
        return new Evidence(
                "first " + first + " " + first.body() + ", at the other gateway " + retry + " " + retry.body()
                        + " with Idempotent-Replayed",
                first.status() == 200
                        && retry.status() == 200
                        && retry.body().equals(first.body())
                        && retry.has("Idempotent-Replayed")
                        && !first.has("Idempotent-Replayed")
                        && service.effects("replay-key") == 1);
    }

    private Evidence missing() {
        Answer answer = rig.send(new Ask(0, "").header(CheckedService.NAME, "missing-key"));
        return new Evidence(
                answer + ", " + service.effects("missing-key") + " effects",
                answer.status() == 400 && service.effects("missing-key") == 0);
    }

    private Evidence natural() {
        List<String> seen = new ArrayList<>();
        boolean passed = true;
        for (String method : List.of("PUT", "GET", "DELETE")) {
            Answer answer =
                    rig.send(new Ask(0, "").header(CheckedService.NAME, method).to(method, CheckRig.PAY));
            seen.add(method + " " + answer);
            passed &= answer.status() == 200 && service.effects(method) == 1;
        }
        return new Evidence(String.join(", ", seen), passed);
    }

    private Evidence serverError() {
        Answer first = rig.send(new Ask(0, "error-key").act(CheckedService.FAIL_FIRST));
        Answer retry = rig.send(new Ask(1, "error-key").act(CheckedService.FAIL_FIRST));
        Answer again = rig.send(new Ask(0, "error-key").act(CheckedService.FAIL_FIRST));
        return new Evidence(
                "first " + first.status() + ", retry " + retry + ", once more " + again + ": "
                        + service.effects("error-key") + " effect",
                first.status() == 500
                        && retry.status() == 200
                        && again.body().equals(retry.body())
                        && service.effects("error-key") == 1);
    }

    private Evidence retention() {
        Answer first = rig.send(new Ask(0, "short-key").to("POST", CheckRig.SHORT));
        rig.send(new Ask(0, "remembered-key").to("POST", CheckRig.REMEMBERED));
        Answer within = rig.send(new Ask(1, "short-key").to("POST", CheckRig.SHORT));
        Pause.millis(CheckRig.RETENTION.plusSeconds(1).toMillis());
        Answer after = rig.send(new Ask(1, "short-key").to("POST", CheckRig.SHORT));
        Answer remembered = rig.send(new Ask(1, "remembered-key").to("POST", CheckRig.REMEMBERED));
        return new Evidence(
                "within " + CheckRig.RETENTION.toSeconds() + " s " + within.body() + ", afterwards " + after.body()
                        + "; with a tombstone " + remembered,
                within.body().equals(first.body())
                        && after.status() == 200
                        && !after.body().equals(first.body())
                        && remembered.status() == 410
                        && service.effects("remembered-key") == 1);
    }

    private Evidence metrics() throws Exception {
        List<String> seen = new ArrayList<>();
        boolean passed = true;
        List<String> tenants = List.of("acme", "globex");
        for (String tenant : tenants) {
            rig.send(new Ask(0, "metrics-key").header("Tenant", tenant));
            rig.send(new Ask(0, "metrics-key").header("Tenant", tenant));
            rig.send(new Ask(0, "metrics-key").header("Tenant", tenant).body("{}"));
        }
        String text = rig.metrics(0);
        for (String tenant : tenants) {
            for (String metric : List.of("created", "replay", "key_misuse")) {
                boolean found = text.lines()
                        .anyMatch(line -> line.startsWith("api_idempotency_reserve_" + metric + "_total{")
                                && line.contains("tenant=\"" + tenant + "\""));
                passed &= found;
                seen.add(metric + " of " + tenant + (found ? "" : ": missing"));
            }
        }
        return new Evidence("/metrics counts " + String.join(", ", seen), passed);
    }
}
