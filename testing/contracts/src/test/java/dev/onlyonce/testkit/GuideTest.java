package dev.onlyonce.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The guide for store authors")
class GuideTest {
    @TempDir
    Path folder;

    private final ManualTime time = new ManualTime();

    @Test
    @DisplayName("shows a test that compiles and runs here")
    void showsWhatRuns() throws IOException {
        assertThat(Files.readString(Path.of("src/test/java/dev/onlyonce/testkit/MemoryStoreTest.java")))
                .contains(GuideStore.block("extends StoreContract"));
        assertThat(Files.readString(Path.of("src/test/java/dev/onlyonce/testkit/SimulationTest.java")))
                .contains("Simulation.on(MemoryStore::new)");
    }

    @Test
    @DisplayName("builds a store that has everything again after a restart, but for a change that a crash has torn")
    void restarted() throws Exception {
        GuideStore guide = new GuideStore(folder);
        Path file = folder.resolve("entries");
        Store model = new MemoryStore(time);
        List<ClaimRequest> claims = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            claims.add(Requests.fresh("key-" + i));
        }
        Store first = guide.open(file, time);
        for (Store store : List.of(model, first)) {
            store.claim(claims);
            store.settle(List.of(Requests.settlement(claims.get(0), State.COMPLETED, Requests.bytes("done"))));
            store.evict(claims.get(0).id(), "operator", "a reason");
            store.settle(List.of(Requests.settlement(claims.get(1), State.FAILED, Requests.bytes("failed"))));
        }
        time.jump(Duration.ofDays(1));
        assertThat(first.sweep(2)).hasSameSizeAs(model.sweep(2));
        byte[] whole = Files.readAllBytes(file);
        first.claim(List.of(Requests.fresh("torn")));
        byte[] longer = Files.readAllBytes(file);
        Files.write(
                file, Arrays.copyOf(longer, (whole.length + longer.length) / 2), StandardOpenOption.TRUNCATE_EXISTING);

        Store second = guide.open(file, time);
        assertSame(second, model);
        ClaimRequest next = Requests.fresh("next");
        second.claim(List.of(next));
        model.claim(List.of(next));
        assertSame(guide.open(file, time), model);
    }

    private static void assertSame(Store store, Store model) {
        List<EntryId> ids =
                model.list(EntryQuery.all(100)).stream().map(Entry::id).toList();
        assertThat(store.list(EntryQuery.all(100))).extracting(Entry::id).isEqualTo(ids);
        assertThat(store.find(ids))
                .hasSameSizeAs(ids)
                .allSatisfy(found -> assertThat(found).isPresent());
        for (int i = 0; i < ids.size(); i++) {
            assertThat(Snapshot.of(store.find(ids).get(i).orElseThrow()))
                    .isEqualTo(Snapshot.of(model.find(ids).get(i).orElseThrow()));
        }
        assertThat(store.audit(AuditQuery.all(100))).isEqualTo(model.audit(AuditQuery.all(100)));
    }
}
