package dev.onlyonce.dynamodb;

import dev.onlyonce.dynamodb.StoreClock.Reading;
import dev.onlyonce.dynamodb.Table.Written;
import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.RenewResult;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.Transition;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
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
        return claim(request, ROUNDS_MAX);
    }

    private CompletableFuture<ClaimResult> claim(ClaimRequest request, int rounds) {
        Item item = changes.create(request, clock.now());
        return table.create(item)
                .thenCompose(written -> written instanceof Written.Refused refused
                        ? claim(request, refused.now(), rounds)
                        : claimed(item));
    }

    private CompletableFuture<ClaimResult> claim(ClaimRequest request, Optional<Item> now, int rounds) {
        if (rounds == 0) {
            return CompletableFuture.failedFuture(busy(request.id()));
        }
        return now.isEmpty() ? claim(request, rounds - 1) : now.get().read(old -> claimOver(old, request, rounds));
    }

    private CompletableFuture<ClaimResult> claimOver(Item old, ClaimRequest request, int rounds) {
        Reading reading = clock.now();
        Optional<Item> next = changes.claim(old, request, reading);
        if (next.isEmpty()) {
            return CompletableFuture.completedFuture(
                    new ClaimResult.Existing(old.entry(reading.earliest()).orElseThrow()));
        }
        return table.replace(old, next.get())
                .thenCompose(written -> written instanceof Written.Refused refused
                        ? claim(request, refused.now(), rounds - 1)
                        : claimed(next.get()));
    }

    private static CompletableFuture<ClaimResult> claimed(Item item) {
        return CompletableFuture.completedFuture(new ClaimResult.Claimed(item.attempt()));
    }

    private static StoreBusy busy(EntryId id) {
        return new StoreBusy("others keep changing " + id, null);
    }

    CompletableFuture<SettleResult> settle(Settlement settlement) {
        Reading now = clock.now();
        return table.update(ItemKey.of(settlement.id()), settlementUpdate(settlement, now))
                .thenCompose(written -> written instanceof Written.Done done
                        ? CompletableFuture.completedFuture(settled(done.before(), settlement.to(), now))
                        : change(
                                settlement.id(),
                                ((Written.Refused) written).now(),
                                new Finding(
                                        old -> changes.settle(old, settlement, clock.now()),
                                        old -> answer(old, settlement)),
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
            values.put(":seconds", Item.value(Changes.ttl(now)));
        } else {
            set.append(", ea = :now + rt, dk = :dk, da = :now + rt");
            values.put(":dk", AttributeValue.fromS(key.due(Due.PURGE)));
        }
        return new Table.Update(set.toString(), condition, values);
    }

    private SettleResult answer(Item old, Settlement settlement) {
        State shown = old.shown(clock.now().earliest());
        boolean recorded = shown != null && old.state() == settlement.to() && old.hasToken(settlement.token());
        return recorded ? recorded(old) : new SettleResult.Lost(shown);
    }

    private static SettleResult recorded(Item item) {
        return new SettleResult.Settled(
                Item.instant(item.number(Attribute.SETTLED)),
                item.has(Attribute.EXPIRES) ? Item.instant(item.number(Attribute.EXPIRES)) : null);
    }

    CompletableFuture<SettleResult> resolve(Resolution resolution) {
        Finding finding = new Finding(
                old -> changes.resolve(old, resolution, clock.now()),
                old -> new SettleResult.Lost(old.shown(clock.now().earliest())));
        return table.get(ItemKey.of(resolution.id()))
                .thenCompose(found -> change(resolution.id(), found, finding, ROUNDS_MAX));
    }

    /**
     * What to make of a stored item.
     *
     * @param next the item to store; empty for no change
     * @param unchanged the answer for no change
     */
    private record Finding(Function<Item, Optional<Item>> next, Function<Item, SettleResult> unchanged) {}

    private CompletableFuture<SettleResult> change(EntryId id, Optional<Item> now, Finding finding, int rounds) {
        if (rounds == 0) {
            return CompletableFuture.failedFuture(busy(id));
        }
        if (now.isEmpty()) {
            return CompletableFuture.completedFuture(new SettleResult.Lost(null));
        }
        return now.get().read(old -> {
            Optional<Item> next = finding.next.apply(old);
            if (next.isEmpty()) {
                return CompletableFuture.completedFuture(finding.unchanged.apply(old));
            }
            return table.replace(old, next.get())
                    .thenCompose(written -> written instanceof Written.Refused refused
                            ? change(id, refused.now(), finding, rounds - 1)
                            : CompletableFuture.completedFuture(recorded(next.get())));
        });
    }

    CompletableFuture<RenewResult> renew(Renewal renewal) {
        Table.Update update = new Table.Update(
                "SET la = :la, da = :la, rv = :rv",
                "s = :processing AND tk = :tk",
                Map.of(
                        ":la", Item.value(clock.now().latest() + Item.micros(renewal.lease())),
                        ":processing", Item.value(State.PROCESSING.code()),
                        ":tk", Item.value(Item.bytes(renewal.token())),
                        ":rv", Item.newRevision()));
        return table.update(ItemKey.of(renewal.id()), update)
                .thenApply(written -> written instanceof Written.Done ? RenewResult.RENEWED : RenewResult.LOST);
    }

    CompletableFuture<Optional<Transition>> evict(EntryId id, String who, String reason) {
        return table.get(ItemKey.of(id)).thenCompose(found -> evict(found, who, reason, ROUNDS_MAX));
    }

    private CompletableFuture<Optional<Transition>> evict(Optional<Item> now, String who, String reason, int rounds) {
        return now.isEmpty()
                ? CompletableFuture.completedFuture(Optional.empty())
                : now.get().read(old -> evict(old, who, reason, rounds));
    }

    private CompletableFuture<Optional<Transition>> evict(Item old, String who, String reason, int rounds) {
        Reading reading = clock.now();
        Optional<Item> next = changes.evict(old, who, reason, reading);
        if (next.isEmpty()) {
            return CompletableFuture.completedFuture(Optional.empty());
        }
        if (rounds == 0) {
            return CompletableFuture.failedFuture(busy(old.id()));
        }
        @Nullable State shown = old.shown(reading.earliest());
        Transition evicted =
                new Transition(old.id(), old.text(Attribute.OPERATION), shown, null, old.attempt(), who, reason);
        return table.replace(old, next.get())
                .thenCompose(written -> written instanceof Written.Refused refused
                        ? evict(refused.now(), who, reason, rounds - 1)
                        : CompletableFuture.completedFuture(Optional.of(evicted)));
    }
}
