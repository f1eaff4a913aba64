package dev.onlyonce.dynamodb;

import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.State;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * Lists and counts, for operators. Unknown entries are found in the index; everything else reads the whole table for each page, since a
 * table of this kind has no order of ids.
 */
record Listing(Table table, DueIndex index, Scan scan, StoreClock clock) {
    /** Read together. Results may have hundreds of kilobytes. */
    private static final int CHUNK = 32;

    private static final Comparator<AuditRecord> ORDER = Comparator.comparingLong(AuditRecord::number)
            .thenComparing(record -> record.transition().id());

    List<Entry> list(EntryQuery query) {
        return query.state() == State.UNKNOWN ? unknown(query) : scanned(query);
    }

    private List<Entry> unknown(EntryQuery query) {
        TreeMap<EntryId, Entry> page = new TreeMap<>();
        List<ItemKey> keys = index.all(IndexKind.UNKNOWN);
        for (int i = 0; i < keys.size(); i += CHUNK) {
            for (Entry entry : read(keys.subList(i, Math.min(i + CHUNK, keys.size())))) {
                add(query, entry, page);
            }
        }
        return List.copyOf(page.values());
    }

    private List<Entry> scanned(EntryQuery query) {
        TreeMap<EntryId, Entry> heads = new TreeMap<>();
        long now = clock.now().earliest();
        scan.read(Scan.HEADS, query.tenant(), item -> {
            item.entry(now).ifPresent(entry -> add(query, entry, heads));
            return true;
        });
        List<ItemKey> keys = heads.keySet().stream().map(ItemKey::of).toList();
        List<Entry> page = new ArrayList<>();
        for (int i = 0; i < keys.size(); i += CHUNK) {
            read(keys.subList(i, Math.min(i + CHUNK, keys.size()))).stream()
                    .filter(entry -> matches(query, entry))
                    .forEach(page::add);
        }
        return page;
    }

    private static void add(EntryQuery query, Entry entry, TreeMap<EntryId, Entry> page) {
        if (matches(query, entry)) {
            page.put(entry.id(), entry);
            if (page.size() > query.limit()) {
                page.pollLastEntry();
            }
        }
    }

    private static boolean matches(EntryQuery query, Entry entry) {
        return query.matches(entry) && (query.after() == null || query.after().compareTo(entry.id()) < 0);
    }

    private List<Entry> read(List<ItemKey> keys) {
        List<Optional<Map<String, AttributeValue>>> items =
                Reads.all(keys.stream().map(table::read).toList());
        long now = clock.now().earliest();
        return items.stream()
                .flatMap(Optional::stream)
                .flatMap(item -> scan
                        .unreadable()
                        .read(Scan.name(item), () -> Item.of(item).entry(now))
                        .stream())
                .flatMap(Optional::stream)
                .toList();
    }

    /** How many entries a tenant has, or all of them. */
    int count(@Nullable String tenant, int max) {
        long now = clock.now().earliest();
        AtomicInteger count = new AtomicInteger();
        scan.read("pk, s, ea, tb", tenant, item -> item.isGone(now) || count.incrementAndGet() < max);
        return Math.min(count.get(), max);
    }

    List<AuditRecord> history(EntryId id) {
        List<AuditRecord> all = Reads.one(table.get(ItemKey.of(id)))
                .map(item -> item.read(stored -> AuditLog.of(stored).list(id)))
                .orElse(List.of());
        return List.copyOf(all.subList(Math.max(0, all.size() - AuditQuery.LIMIT_MAX), all.size()));
    }

    List<AuditRecord> audit(AuditQuery query) {
        TreeSet<AuditRecord> page = new TreeSet<>(ORDER);
        scan.read(Scan.AUDIT, query.tenant(), item -> {
            for (AuditRecord record : AuditLog.of(item).list(item.id())) {
                boolean asked = (query.from() == null || !record.at().isBefore(query.from()))
                        && (query.after() == null || ORDER.compare(query.after(), record) < 0);
                if (asked && page.add(record) && page.size() > query.limit()) {
                    page.pollLast();
                }
            }
            return true;
        });
        return List.copyOf(page);
    }
}
