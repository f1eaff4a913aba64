package dev.onlyonce.dynamodb;

import dev.onlyonce.dynamodb.StoreClock.Reading;
import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryTable;
import dev.onlyonce.store.Life;
import dev.onlyonce.store.RenewResult;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.TableStore;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BiFunction;
import java.util.function.Function;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * The verbs, on items. A settlement and a renewal are one conditional write, made without reading. If its condition does not hold, the
 * answer brings the stored item, and {@link Life} decides about that.
 */
final class ItemStore extends TableStore {
    private final Table table;
    private final AuditLevel level;
    private final StoreClock clock;

    ItemStore(ItemTable items) {
        super(items);
        this.table = items.table();
        this.level = items.changes().level();
        this.clock = items.clock();
    }

    @Override
    public List<ClaimResult> claim(List<ClaimRequest> requests) {
        List<Progress<ClaimResult>> all = new ArrayList<>();
        requests.forEach(request -> all.add(new Progress.Undecided<>(EntryTable.Row.absent(request.id()))));
        return finish(Life::claim, requests, all, ServiceFailure::refusedClaim);
    }

    @Override
    public List<SettleResult> settle(List<Settlement> settlements) {
        Reading now = clock.now();
        List<Progress<SettleResult>> all = begin(
                settlements,
                Settlement::id,
                settlement -> settlement(settlement, level, now),
                (settlement, before) -> settled(Item.of(before), settlement.to(), now));
        return finish(Life::settle, settlements, all, failure -> new SettleResult.Busy());
    }

    @Override
    public List<RenewResult> renew(List<Renewal> renewals) {
        List<Progress<RenewResult>> all =
                begin(renewals, Renewal::id, this::renewal, (renewal, before) -> RenewResult.RENEWED);
        return finish(Life::renew, renewals, all, failure -> RenewResult.BUSY);
    }

    /** Sends an update for each item, all at once. */
    private <Q, A> List<Progress<A>> begin(
            List<Q> items,
            Function<Q, EntryId> id,
            Function<Q, Table.Update> update,
            BiFunction<Q, Map<String, AttributeValue>, A> answer) {
        List<CompletableFuture<Table.Outcome>> sent = items.stream()
                .map(item -> table.update(ItemKey.of(id.apply(item)), update.apply(item)))
                .toList();
        List<Progress<A>> all = new ArrayList<>();
        for (int i = 0; i < items.size(); i++) {
            Q item = items.get(i);
            try {
                Table.Outcome outcome = sent.get(i).join();
                all.add(
                        outcome instanceof Table.Outcome.Done done
                                ? new Progress.Answered<>(answer.apply(item, done.before()))
                                : new Progress.Undecided<>(
                                        ItemTable.row(id.apply(item), ((Table.Outcome.Refused) outcome).now())));
            } catch (CompletionException | StoreException e) {
                all.add(new Progress.Failed<>(ServiceFailure.of(e)));
            }
        }
        return all;
    }

    private static SettleResult settled(Item old, State to, Reading now) {
        return new SettleResult.Settled(
                Item.instant(now.latest()),
                to == State.UNKNOWN ? null : Item.instant(now.latest() + old.number(Attribute.RETENTION)));
    }

    /** A settlement as one update: for the token's claim, and, where ordinary lives are left to native TTL, for those alone. */
    static Table.Update settlement(Settlement s, AuditLevel level, Reading now) {
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
            values.put(":dk", AttributeValue.fromS(key.due(IndexKind.UNKNOWN)));
        } else if (level == AuditLevel.EXCEPTIONS && s.to().isAnswered()) {
            set.append(", ea = :now + rt, xt = :seconds + ks REMOVE dk, da");
            condition += " AND la >= :now AND attribute_not_exists(lg)";
            values.put(":seconds", Item.value(Changes.ttl(now.latest())));
        } else {
            set.append(", ea = :now + rt, dk = :dk, da = :now + rt");
            values.put(":dk", AttributeValue.fromS(key.due(IndexKind.PURGE)));
        }
        return new Table.Update(set.toString(), condition, values);
    }

    private Table.Update renewal(Renewal renewal) {
        return new Table.Update(
                "SET la = :la, da = :la, rv = :rv",
                "s = :processing AND tk = :tk AND la <= :la",
                Map.of(
                        ":la", Item.value(clock.now().latest() + Item.micros(renewal.lease())),
                        ":processing", Item.value(State.PROCESSING.code()),
                        ":tk", Item.value(Item.bytes(renewal.token())),
                        ":rv", Item.newRevision()));
    }
}
