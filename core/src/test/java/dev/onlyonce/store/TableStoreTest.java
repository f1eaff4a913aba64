package dev.onlyonce.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.fingerprint.Fingerprint;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A store on a table")
final class TableStoreTest {
    private static final Terms TERMS =
            new Terms(Duration.ofSeconds(30), OnLeaseLost.UNKNOWN, Duration.ofHours(1), Duration.ZERO);
    private final StoreException down = new StoreUnavailable("its server is down", null);
    private final StoreException doubt = new StoreOutcomeUnknown("no answer", null);
    private final StoreException locked = new StoreBusy("locked", null);

    private Instant now = Instant.parse("2026-01-01T00:00:00Z");
    private final MemoryTable entries = new MemoryTable((Time) Proxy.newProxyInstance(
            Time.class.getClassLoader(), new Class<?>[] {Time.class}, (proxy, method, args) -> now));

    /** What becomes of each write; null for what the table says. */
    private Function<EntryTable.Write, EntryTable.Written> fate = write -> null;

    private int rounds;
    private final TableStore store = new TableStore((EntryTable) Proxy.newProxyInstance(
            EntryTable.class.getClassLoader(), new Class<?>[] {EntryTable.class}, (proxy, method, args) -> {
                try {
                    return method.getName().equals("write") ? written((List<?>) args[0]) : method.invoke(entries, args);
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
            }));

    private List<EntryTable.Written> written(List<?> writes) {
        rounds++;
        List<EntryTable.Written> results = new ArrayList<>();
        for (Object each : writes) {
            EntryTable.Write write = (EntryTable.Write) each;
            EntryTable.Written planned = fate.apply(write);
            results.add(planned == null ? entries.write(List.of(write)).get(0) : planned);
        }
        return results;
    }

    private void fails(String key, StoreException failure) {
        fate = write -> write.row().id().key().equals(key) ? new EntryTable.Written.Failed(failure) : null;
    }

    private static ClaimRequest claim(String key) {
        Fingerprint body = Fingerprint.of(new byte[] {1});
        EntryId id = new EntryId("acme", "", key);
        return new ClaimRequest(
                id, "pay", body, UUID.nameUUIDFromBytes(key.getBytes(UTF_8)), "node", TERMS, State.PROCESSING);
    }

    private static Settlement done(ClaimRequest claim, State to) {
        return new Settlement(claim.id(), claim.token(), to, null, "done");
    }

    @Test
    @DisplayName("takes a new key with one write, and without reading")
    void oneWrite() {
        assertThat(store.claim(List.of(claim("a"), claim("b"))))
                .containsOnly(new ClaimResult.Claimed(1))
                .hasSize(2);
        assertThat(rounds).isEqualTo(1);
    }

    @Test
    @DisplayName("asks again when somebody else was faster, with the entry as it is then")
    void overtaken() {
        ClaimRequest claim = claim("a");
        ClaimRequest rival = new ClaimRequest(
                claim.id(), "pay", claim.fingerprint(), UUID.randomUUID(), "rival", TERMS, State.PROCESSING);
        fate = write -> {
            fate = next -> null;
            new TableStore(entries).claim(List.of(rival));
            return null;
        };
        assertThat(store.claim(List.of(claim)).get(0))
                .isInstanceOfSatisfying(
                        ClaimResult.Existing.class,
                        existing -> assertThat(existing.entry().owner()).isEqualTo("rival"));
    }

    @Test
    @DisplayName("gives up when others keep changing an entry")
    void contended() {
        store.claim(List.of(claim("a"), claim("b"), claim("c")));
        store.settle(List.of(done(claim("c"), State.FAILED)));
        fate = write -> write.row().id().key().equals("b")
                ? null
                : new EntryTable.Written.Overtaken(
                        entries.read(List.of(write.row().id())).get(0));
        List<SettleResult> answers =
                store.settle(List.of(done(claim("a"), State.UNKNOWN), done(claim("b"), State.UNKNOWN)));
        assertThat(answers.get(0)).isInstanceOf(SettleResult.Busy.class);
        assertThat(answers.get(1)).isInstanceOf(SettleResult.Settled.class);
        assertThatThrownBy(() -> store.evict(claim("c").id(), "operator", "a reason"))
                .isInstanceOf(StoreBusy.class);
    }

    @Test
    @DisplayName("answers the items that were written, beside one that failed and one that is locked")
    void oneFailed() {
        fails("a", down);
        assertThat(store.claim(List.of(claim("a"), claim("b"))))
                .containsExactly(new ClaimResult.Unavailable("its server is down"), new ClaimResult.Claimed(1));
        fails("c", locked);
        assertThat(store.claim(List.of(claim("c")))).containsExactly(new ClaimResult.Busy());
        fails("b", down);
        store.claim(List.of(claim("d")));
        assertThat(store.renew(List.of(
                        new Renewal(claim("b").id(), claim("b").token(), Duration.ofSeconds(60)),
                        new Renewal(claim("d").id(), claim("d").token(), Duration.ofSeconds(60)))))
                .containsExactly(RenewResult.BUSY, RenewResult.RENEWED);
    }

    @Test
    @DisplayName("throws what is in doubt, and what made every item fail")
    void thrown() {
        fails("a", doubt);
        assertThatThrownBy(() -> store.claim(List.of(claim("a"), claim("b")))).isSameAs(doubt);
        fails("c", down);
        assertThatThrownBy(() -> store.claim(List.of(claim("c")))).isSameAs(down);
        fate = write -> {
            throw down;
        };
        assertThatThrownBy(() -> store.claim(List.of(claim("d"), claim("e")))).isSameAs(down);
    }

    @Test
    @DisplayName("answers the items of an earlier round when a later one fails as a whole")
    void laterRound() {
        fate = write -> {
            if (rounds > 1) {
                throw down;
            }
            boolean isFirst = write.row().id().key().equals("a");
            return isFirst ? null : new EntryTable.Written.Overtaken(write.row());
        };
        assertThat(store.claim(List.of(claim("a"), claim("b"))))
                .containsExactly(new ClaimResult.Claimed(1), new ClaimResult.Unavailable("its server is down"));
    }

    @Test
    @DisplayName("says that some may be changed, where an item has no other answer")
    void someResolved() {
        store.claim(List.of(claim("a"), claim("b")));
        store.settle(List.of(done(claim("a"), State.UNKNOWN), done(claim("b"), State.UNKNOWN)));
        fails("b", locked);
        List<Resolution> resolutions = List.of(resolution("a"), resolution("b"));
        assertThatThrownBy(() -> store.resolve(resolutions))
                .isInstanceOf(StoreOutcomeUnknown.class)
                .hasCause(locked);
        assertThatThrownBy(() -> store.resolve(List.of(resolution("b")))).isSameAs(locked);
    }

    private static Resolution resolution(String key) {
        return new Resolution(claim(key).id(), null, 1, State.RETRYABLE, null, "operator", "a reason");
    }

    @Test
    @DisplayName("tells what a sweep ended before it failed, and throws if it ended nothing")
    void sweepFails() {
        store.claim(List.of(claim("a"), claim("b"), claim("c")));
        now = now.plusSeconds(30);
        fails("b", down);
        assertThat(store.sweep(10)).hasSize(2);
        assertThatThrownBy(() -> store.sweep(10)).isSameAs(down);
    }

    @Test
    @DisplayName("passes over what somebody else changes during a sweep")
    void sweepOvertaken() {
        store.claim(List.of(claim("a"), claim("b")));
        now = now.plusSeconds(30);
        fate = write -> write.row().id().key().equals("a") ? new EntryTable.Written.Overtaken(write.row()) : null;
        assertThat(store.sweep(10)).hasSize(1);
    }

    @Test
    @DisplayName("looks as far as a page of a listing needs, whatever does not match")
    void lists() {
        List<ClaimRequest> many = new ArrayList<>();
        for (int i = 1000; i < 1600; i++) {
            many.add(claim(Integer.toString(i)));
        }
        store.claim(many);
        store.settle(List.of(done(many.get(1), State.UNKNOWN), done(many.get(599), State.UNKNOWN)));
        assertThat(store.list(EntryQuery.all(2).in(State.UNKNOWN)))
                .extracting(entry -> entry.id().key())
                .containsExactly("1001", "1599");
        assertThat(store.list(EntryQuery.all(1).in(State.UNKNOWN))).hasSize(1);
    }
}
