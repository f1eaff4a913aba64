package dev.onlyonce.testkit;

import static dev.onlyonce.store.State.COMPLETED;
import static dev.onlyonce.testkit.Requests.OPERATION;
import static dev.onlyonce.testkit.Requests.bytes;
import static dev.onlyonce.testkit.Requests.fresh;
import static dev.onlyonce.testkit.Requests.rival;
import static dev.onlyonce.testkit.Requests.withOperation;
import static dev.onlyonce.testkit.Requests.withOwner;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Key;
import dev.onlyonce.Scope;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.State;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Which entries are one and the same: ids are compared byte for byte. */
interface IdentityChapter extends Chapter {

    /** Strings that some store, collation, quoting or script might take for another, or for a command. */
    List<String> NAMES = List.of(
            "acme",
            "Acme",
            "ACME",
            "acme ",
            " acme",
            "acme  ",
            "acmé",
            "acme\u0301",
            "àcme",
            "straße",
            "strasse",
            "ıstanbul",
            "istanbul",
            "İstanbul",
            "日本",
            "日本\u3000",
            "ﾆﾎﾝ",
            "ニホン",
            "😀",
            "😁",
            "👩‍👩‍👧",
            "\uffee",
            "مرحبا",
            "a:b",
            "a::b",
            "a/b",
            "a\\b",
            "a'b",
            "a''b",
            "a\"b",
            "a%b",
            "a_b",
            "a*b",
            "a?b",
            "{a}b",
            "$1",
            "?",
            ":x",
            "NULL",
            "null",
            "true",
            "0",
            "00",
            "0x61636d65",
            "-1",
            "1e3",
            "'; DROP TABLE onlyonce_entry; --",
            "\\'; DROP TABLE onlyonce_entry; --",
            "') OR ('1'='1",
            "]]..redis.call('flushall')..[[",
            "\" .. redis.call('FLUSHALL') .. \"",
            "${jndi:ldap://x}",
            "#{T(java.lang.Runtime)}");

    @Test
    @DisplayName("K7 tenants with look-alike or hostile names and the same key never meet")
    default void tenants() {
        keptApart(NAMES.stream().map(name -> new EntryId(name, "", "key")).toList());
    }

    @Test
    @DisplayName("K6 operations with look-alike or hostile names are separate scopes for the same key")
    default void hostileScopes() {
        keptApart(NAMES.stream().map(name -> new EntryId("acme", name, "key")).toList());
    }

    @Test
    @DisplayName("K1 K2 keys are opaque: look-alike or hostile ones are kept apart, every visible character is kept")
    default void keys() {
        Set<String> keys = NAMES.stream()
                .filter(name -> name.chars().allMatch(c -> c > 0x20 && c < 0x7f))
                .collect(Collectors.toCollection(HashSet::new));
        String visible = IntStream.rangeClosed(0x21, 0x7e)
                .mapToObj(c -> String.valueOf((char) c))
                .collect(Collectors.joining());
        keys.add(visible);
        keys.addAll(visible.chars().mapToObj(c -> String.valueOf((char) c)).toList());
        keptApart(keys.stream().map(key -> new EntryId("acme", "", key)).toList());
    }

    @Test
    @DisplayName("K7 no part of an id runs into the next")
    default void partsDoNotRunTogether() {
        keptApart(List.of(
                new EntryId("a", "b", "c"),
                new EntryId("ab", "", "c"),
                new EntryId("a", "", "bc"),
                new EntryId("ab", "c", "c"),
                new EntryId("a", "bc", "c"),
                new EntryId("a:b", "", "c"),
                new EntryId("a", "b:c", "c"),
                new EntryId("a", "b", "c:c"),
                new EntryId("a:b", "c", "c"),
                new EntryId("a|b", "", "c"),
                new EntryId("a", "b|", "c"),
                new EntryId("a", "b", "|c"),
                new EntryId("a/", "b", "c"),
                new EntryId("a", "/b", "c"),
                new EntryId("a", "b/", "c")));
    }

    @Test
    @DisplayName("K2 the longest names and keys are held, and kept apart by their last character")
    default void longest() {
        String tenant = "日".repeat(254);
        String space = "本".repeat(254);
        String key = "~".repeat(254);
        keptApart(List.of(
                new EntryId(tenant + "a", space + "a", key + "a"),
                new EntryId(tenant + "b", space + "a", key + "a"),
                new EntryId(tenant + "a", space + "b", key + "a"),
                new EntryId(tenant + "a", space + "a", key + "b"),
                new EntryId("x" + "😀".repeat(127), "y" + "😀".repeat(127), key + "a")));
    }

    /** Claims all, settles each with its own result, and sees that each has its own and no other. */
    private void keptApart(List<EntryId> ids) {
        assertThat(ids).doesNotHaveDuplicates();
        for (EntryId id : ids) {
            ClaimRequest claim = Requests.of(id);
            assertThat(bench().claim(claim)).as("%s", id).isEqualTo(new ClaimResult.Claimed(1));
            bench().settled(claim, COMPLETED, own(id));
        }
        var found = bench().node().find(ids);
        for (int i = 0; i < ids.size(); i++) {
            EntryId id = ids.get(i);
            Entry entry = found.get(i).orElseThrow(() -> new AssertionError("lost " + id));
            assertThat(entry.id()).isEqualTo(id);
            assertThat(entry.result()).as("%s", id).isEqualTo(own(id));
            assertThat(bench().refused(Requests.of(id)).id()).isEqualTo(id);
        }
        Set<EntryId> listed = bench().node().list(EntryQuery.all(EntryQuery.LIMIT_MAX)).stream()
                .map(Entry::id)
                .collect(Collectors.toSet());
        assertThat(listed).containsExactlyInAnyOrderElementsOf(ids);
    }

    private static byte[] own(EntryId id) {
        return bytes(id.tenant() + "\0" + id.scope() + "\0" + id.key());
    }

    @Test
    @DisplayName("K6 scope TENANT: the same key on another operation is the same entry; scope OPERATION: another one")
    default void scopes() {
        Key payments = Key.of("acme", "POST /payments", "key");
        Key refunds = Key.of("acme", "POST /refunds", "key");
        bench().claimed(Requests.of(payments.entryId()));
        ClaimRequest crossed = withOperation("POST /refunds", Requests.of(refunds.entryId()));
        assertThat(bench().refused(crossed).operation()).isEqualTo("POST /payments");

        assertThat(bench().claimed(Requests.of(payments.in(Scope.OPERATION).entryId())))
                .isEqualTo(1);
        assertThat(bench().claimed(Requests.of(refunds.in(Scope.OPERATION).entryId())))
                .isEqualTo(1);
    }

    @Test
    @DisplayName("K6 operations are compared exactly: case, spaces and accents make another operation")
    default void operationsAreExact() {
        ClaimRequest claim = fresh("key");
        bench().claimed(claim);
        bench().settled(claim, State.RETRYABLE, null);
        for (String other : List.of("post /payments", OPERATION + " ", " " + OPERATION, "PÖST /payments", "")) {
            assertThat(bench().refused(withOperation(other, rival(claim))).state())
                    .isEqualTo(State.RETRYABLE);
        }
        assertThat(bench().claimed(rival(claim))).isEqualTo(2);
    }

    @Test
    @DisplayName("K7 operation and owner come back as they were, whatever is in them")
    default void namesComeBack() {
        for (int i = 0; i < NAMES.size(); i++) {
            String name = NAMES.get(i);
            ClaimRequest claim = withOwner(name, withOperation(name, fresh("key-" + i)));
            bench().claimed(claim);
            assertThat(bench().entry(claim).operation()).isEqualTo(name);
            assertThat(bench().entry(claim).owner()).isEqualTo(name);
        }
    }

    @Test
    @DisplayName("F1 R8 every bit of the fingerprint and its version are stored and compared")
    default void fingerprints() {
        ClaimRequest claim = fresh("key");
        bench().claimed(claim);
        bench().settled(claim, State.RETRYABLE, null);
        Fingerprint stored = bench().entry(claim).fingerprint();
        assertThat(stored.digest()).isEqualTo(claim.fingerprint().digest());
        assertThat(stored.version()).isEqualTo(claim.fingerprint().version());
        for (int i = 0; i < Fingerprint.DIGEST_BYTES; i += 31) {
            byte[] digest = claim.fingerprint().digest();
            digest[i] ^= 1;
            ClaimRequest other = rival(claim);
            assertThat(bench().refused(new ClaimRequest(
                                    other.id(),
                                    other.operation(),
                                    Fingerprint.stored(stored.version(), digest),
                                    other.token(),
                                    other.owner(),
                                    other.terms(),
                                    other.start()))
                            .state())
                    .isEqualTo(State.RETRYABLE);
        }
        assertThat(bench().claimed(rival(claim))).isEqualTo(2);
    }
}
