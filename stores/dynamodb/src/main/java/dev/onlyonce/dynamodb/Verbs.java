package dev.onlyonce.dynamodb;

import dev.onlyonce.dynamodb.StoreClock.Reading;
import dev.onlyonce.dynamodb.Table.Written;
import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Decision;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Life;
import dev.onlyonce.store.RenewResult;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreTime;
import dev.onlyonce.store.Transition;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * The store's verbs for one entry each.
 *
 * <p>A fresh claim, a settlement and a renewal are one conditional write, made without reading. If its condition does not hold, the
 * answer brings the stored item: it is the caller's answer, or the next item is made from it and written on condition that it has not
 * changed in between.
 */
record Verbs(Table table, Changes changes, StoreClock clock) {
    /** Each round lost means that somebody else changed the entry in between. */
    private static final int ROUNDS_MAX = 100;

    CompletableFuture<ClaimResult> claim(ClaimRequest request) {
        return decide(request.id(), Optional.empty(), (stored, now) -> Life.claim(stored, request, now), ROUNDS_MAX);
    }

    /** Writes what the rule says about the item as it is now; somebody else who changes it meanwhile makes another round. */
    private <R> CompletableFuture<R> decide(EntryId id, Optional<Item> now, Rule<R> rule, int rounds) {
        if (rounds == 0) {
            return CompletableFuture.failedFuture(busy(id));
        }
        return now.isEmpty() ? change(id, null, rule, rounds) : now.get().read(old -> change(id, old, rule, rounds));
    }

    private <R> CompletableFuture<R> change(EntryId id, @Nullable Item old, Rule<R> rule, int rounds) {
        Decision<R> decision =
                rule.decide(old == null ? null : old.stored(), clock.now().time());
        return decision instanceof Decision.Change<R> change
                ? table.write(old, changes.after(old, change))
                        .thenCompose(written -> written instanceof Written.Refused refused
                                ? decide(id, refused.now(), rule, rounds - 1)
                                : CompletableFuture.completedFuture(change.answer()))
                : CompletableFuture.completedFuture(decision.answer());
    }

    private <R> CompletableFuture<R> readAndDecide(EntryId id, Rule<R> rule) {
        return table.get(ItemKey.of(id)).thenCompose(found -> decide(id, found, rule, ROUNDS_MAX));
    }

    /** One of those in {@link Life}. */
    private interface Rule<R> {
        Decision<R> decide(@Nullable Entry stored, StoreTime now);
    }

    private static StoreBusy busy(EntryId id) {
        return new StoreBusy("others keep changing " + id, null);
    }

    CompletableFuture<SettleResult> settle(Settlement settlement) {
        Reading now = clock.now();
        return table.update(ItemKey.of(settlement.id()), settlementUpdate(settlement, now))
                .thenCompose(written -> written instanceof Written.Done done
                        ? CompletableFuture.completedFuture(settled(done.before(), settlement.to(), now))
                        : decide(
                                settlement.id(),
                                ((Written.Refused) written).now(),
                                (stored, time) -> Life.settle(stored, settlement, time),
                                ROUNDS_MAX));
    }

    private static SettleResult settled(Map<String, AttributeValue> before, State to, Reading now) {
        Item old = Item.of(before);
        return new SettleResult.Settled(
                Item.instant(now.latest()),
                to == State.UNKNOWN ? null : Item.instant(now.latest() + old.number(Attribute.RETENTION)));
    }

    /** A settlement as one update: for the token's claim, and, where ordinary lives are left to native TTL, for those alone. */
    Table.Update settlementUpdate(Settlement s, Reading now) {
        ItemKey key = ItemKey.of(s.id());
        Map<String, AttributeValue> values = new HashMap<>(Map.of(
                ":s", Item.value(s.to().code()),
                ":processing", Item.value(State.PROCESSING.code()),
                ":tk", Item.value(Item.bytes(s.token())),
                ":now", Item.value(now.latest()),
                ":why", AttributeValue.fromS(s.reason()),
                ":rv", Item.newRevision()));
        StringBuilder set = new StringBuilder("SET s = :s, st = :s, sf = :processing, sa = :now, wy = :why, rv = :rv");
        String condition = "s = :processing AND tk = :tk";
        if (s.result() != null) {
            set.append(", r = :r");
            values.put(":r", Item.value(s.result()));
        }
        if (s.to() == State.UNKNOWN) {
            set.append(", dk = :dk, da = ca");
            values.put(":dk", AttributeValue.fromS(key.due(Due.UNKNOWN)));
        } else if (changes.level() == AuditLevel.EXCEPTIONS && s.to().isAnswered()) {
            set.append(", ea = :now + rt, xt = :seconds + ks REMOVE dk, da");
            condition += " AND la >= :now AND attribute_not_exists(lg)";
            values.put(":seconds", Item.value(Changes.ttl(now.latest())));
        } else {
            set.append(", ea = :now + rt, dk = :dk, da = :now + rt");
            values.put(":dk", AttributeValue.fromS(key.due(Due.PURGE)));
        }
        return new Table.Update(set.toString(), condition, values);
    }

    CompletableFuture<SettleResult> resolve(Resolution resolution) {
        return readAndDecide(resolution.id(), (stored, now) -> Life.resolve(stored, resolution, false, now));
    }

    CompletableFuture<RenewResult> renew(Renewal renewal) {
        Table.Update update = new Table.Update(
                "SET la = :la, da = :la, rv = :rv",
                "s = :processing AND tk = :tk AND la <= :la",
                Map.of(
                        ":la", Item.value(clock.now().latest() + Item.micros(renewal.lease())),
                        ":processing", Item.value(State.PROCESSING.code()),
                        ":tk", Item.value(Item.bytes(renewal.token())),
                        ":rv", Item.newRevision()));
        return table.update(ItemKey.of(renewal.id()), update)
                .thenCompose(written -> written instanceof Written.Refused refused
                        ? decide(
                                renewal.id(),
                                refused.now(),
                                (stored, now) -> Life.renew(stored, renewal, now),
                                ROUNDS_MAX)
                        : CompletableFuture.completedFuture(RenewResult.RENEWED));
    }

    CompletableFuture<Optional<Transition>> evict(EntryId id, String who, String reason) {
        return readAndDecide(id, (stored, now) -> Life.evict(stored, who, reason, now));
    }
}
