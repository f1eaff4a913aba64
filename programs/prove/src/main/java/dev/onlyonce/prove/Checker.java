package dev.onlyonce.prove;

import static java.util.stream.Collectors.groupingBy;

import dev.onlyonce.prove.History.Life;
import dev.onlyonce.prove.Seen.Asked;
import dev.onlyonce.prove.Seen.Effect;
import dev.onlyonce.prove.Seen.Evicted;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Judges a round by what clients and the ledger saw. The audit is checked too, but proves nothing by itself.
 *
 * <p>An eviction allows one more effect. Whatever is certain must hold; what an eviction without an answer leaves open is allowed.
 */
final class Checker {
    /** The time of an effect that only a table tells. */
    static final long NO_TIME = Long.MAX_VALUE;

    private static final int IN_DOUBT = 409;
    private static final Duration CACHE_MAX = Timing.CACHE_FOR.plusMillis(500);

    private final History history;
    private final List<Item> items;
    private final Map<Work, List<AuditRecord>> audit;
    private final List<Violation> violations = new ArrayList<>();
    private long undone;
    private long taken;

    /** Something that must never be seen. */
    record Violation(Work work, String what) {}

    Checker(History history, List<Item> items, Map<Work, List<AuditRecord>> audit) {
        this.history = history;
        this.items = items;
        this.audit = audit;
    }

    List<Violation> check() {
        Map<Work, Life> lives = history.lives();
        for (Item item : items) {
            Life life = lives.getOrDefault(item.work, new Life());
            if (isTaken(item.work, life)) {
                taken++;
                continue;
            }
            forgetUndone(item.work, life);
            effects(item.work, life);
            answers(item.work, life);
            misuse(item.work, life);
            if (item.isStuck()) {
                violated(
                        item.work,
                        "no final answer to " + Timing.STUCK_RETRIES
                                + " retries after the last fault, a second apart: the key is stuck"
                                + (item.answers() > 0 ? ", or an acknowledged result is lost" : ""));
            }
            if (item.work.way() != Work.Way.CONSUMED) {
                audited(item.work, life, audit.getOrDefault(item.work, List.of()));
            }
        }
        return violations;
    }

    /** Checks what must hold at any time. Effects of transactions are not known yet. */
    List<Violation> checkSoFar() {
        Map<Work, Life> lives = history.lives();
        for (Item item : items) {
            Life life = lives.get(item.work);
            if (life != null && !item.work.way().isInTables() && !isTaken(item.work, life)) {
                effects(item.work, life);
                answers(item.work, life);
                misuse(item.work, life);
            }
        }
        return violations;
    }

    private void violated(Work work, String what) {
        violations.add(new Violation(work, what));
    }

    /**
     * A replay on PostgreSQL does not wait for the standby, and the failover may undo what was replayed. The reference says so. It is counted,
     * and nothing else may rest on it: an answer that any client got as the first one is not among these.
     */
    private void forgetUndone(Work work, Life life) {
        if (work.way().isInTables() && history.failedOver() > 0) {
            Set<String> kept = new HashSet<>();
            life.effects.forEach(effect -> kept.add(effect.id()));
            life.asked.stream().filter(asked -> !asked.replayed()).forEach(asked -> kept.add(asked.answer()));
            int before = life.asked.size();
            life.asked.removeIf(asked ->
                    asked.isAnswered() && asked.begun() < history.failedOver() && !kept.contains(asked.answer()));
            undone += before - life.asked.size();
        }
    }

    /**
     * Whether the other request of a key took it, as it may if a failover has undone a claim that nobody got an acknowledgement of, and with
     * which nothing was done. Clients hear of such a claim, as unknown, since reading does not wait for the standby.
     */
    private boolean isTaken(Work work, Life life) {
        boolean isFirst = life.asked.stream().noneMatch(asked -> asked.isAnswered() && !asked.isMisuse())
                && life.effects.stream().noneMatch(effect -> effect.body().equals(work.body()));
        return isFirst
                && !life.effects.isEmpty()
                && life.effects.stream().map(Effect::step).distinct().count() == life.effects.size()
                && life.effects.get(0).begun() > history.failsOver();
    }

    /** How many keys another request took after a failover. */
    long taken() {
        return taken;
    }

    /** How many replays a failover has undone. */
    long undone() {
        return undone;
    }

    private void effects(Work work, Life life) {
        life.effects.stream().collect(groupingBy(Effect::step)).forEach((step, made) -> {
            if (made.size() > 1 + life.evictions.size()) {
                violated(
                        work,
                        "the effect happened " + made.size() + " times, with " + life.evictions.size() + " evictions");
            }
        });
        if (life.effects.stream().anyMatch(effect -> !effect.body().equals(work.body()))) {
            violated(work, "another request than the first one took effect");
        }
    }

    private void answers(Work work, Life life) {
        Set<String> ids = new HashSet<>();
        life.effects.forEach(effect -> ids.add(effect.id()));
        Set<String> different = new HashSet<>();
        for (Asked asked : life.asked) {
            if (asked.isAnswered() && different.add(asked.answer())) {
                for (String id : asked.answer().replace("\"", "").split(" ", -1)) {
                    if (!ids.contains(id)) {
                        violated(work, "an answer without its effect, or with another tenant's: " + asked.answer());
                    }
                }
            }
            if (asked.status() == 410 || (asked.status() == 402 && !life.effects.isEmpty())) {
                violated(
                        work,
                        "a final refusal, " + asked.status() + " " + asked.answer() + ", of what must be answered");
            }
        }
        if (different.size() > 1 + life.evictions.size()) {
            violated(work, "clients got different answers: " + different);
        }
        life.evictions.stream().filter(Evicted::certain).forEach(evicted -> evicted(work, life, evicted));
        if (life.evictions.isEmpty()) {
            acknowledged(work, life);
        }
    }

    /** What was there before an eviction is not answered after it. */
    private void evicted(Work work, Life life, Evicted evicted) {
        for (Asked asked : life.asked) {
            boolean after = asked.begun() - evicted.ended() > CACHE_MAX.toNanos();
            if (asked.isAnswered() && after && isFrom(life, asked.answer(), evicted.begun())) {
                violated(work, "an answer from before its eviction was served " + asked.answer());
                return;
            }
        }
    }

    private static boolean isFrom(Life life, String answer, long before) {
        boolean made = life.effects.stream().anyMatch(effect -> effect.id().equals(answer) && effect.begun() < before);
        return made
                || life.asked.stream()
                        .anyMatch(
                                asked -> asked.isAnswered() && asked.answer().equals(answer) && asked.ended() < before);
    }

    /** After the first acknowledgement, no answer says that the key is unknown. */
    private void acknowledged(Work work, Life life) {
        long first = life.asked.stream()
                .filter(Asked::isAnswered)
                .mapToLong(Asked::ended)
                .min()
                .orElse(Long.MAX_VALUE);
        for (Asked asked : life.asked) {
            if (asked.begun() > first
                    && asked.status() == IN_DOUBT
                    && asked.answer().equals("outcome_unknown")) {
                violated(work, "an acknowledged result is unknown again");
                return;
            }
        }
    }

    private void misuse(Work work, Life life) {
        for (Asked asked : life.asked) {
            boolean found = asked.status() == IN_DOUBT && asked.answer().equals("outcome_unknown");
            if (asked.isMisuse() && (asked.isAnswered() || found)) {
                violated(
                        work,
                        "another request with the key was answered " + asked.status() + " " + asked.answer()
                                + " instead of being refused as a misuse");
                return;
            }
        }
    }

    private void audited(Work work, Life life, List<AuditRecord> records) {
        State state = null;
        for (AuditRecord audited : records) {
            if (audited.transition().from() != state) {
                violated(
                        work,
                        "the audit is not in order: "
                                + records.stream().map(Checker::shown).toList());
                return;
            }
            state = audited.transition().to();
        }
        boolean answered = life.asked.stream().anyMatch(Asked::isAnswered);
        if (answered && life.evictions.isEmpty() && state != State.COMPLETED) {
            violated(
                    work,
                    "the audit does not end with what was answered: "
                            + records.stream().map(Checker::shown).toList());
        }
    }

    private static String shown(AuditRecord audited) {
        return audited.transition().from() + " -> " + audited.transition().to();
    }
}
