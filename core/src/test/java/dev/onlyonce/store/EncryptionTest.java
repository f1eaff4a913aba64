package dev.onlyonce.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Encryption")
class EncryptionTest {
    private static final byte[] KEY_1 = key(32, 1);
    private static final byte[] KEY_2 = key(16, 2);
    private static final EntryId ID = new EntryId("acme", "", "k-1");
    private static final byte[] PLAIN = "a secret".getBytes(StandardCharsets.UTF_8);

    private static byte[] key(int length, int fill) {
        byte[] key = new byte[length];
        Arrays.fill(key, (byte) fill);
        return key;
    }

    @Test
    @DisplayName("opens what it sealed, which nobody can read, and never seals the same way twice")
    void sealsAndOpens() {
        Encryption encryption = Encryption.with(1, KEY_1);
        byte[] sealed = encryption.seal(ID, "result", PLAIN);
        assertThat(new String(sealed, StandardCharsets.ISO_8859_1)).doesNotContain("secret");
        assertThat(encryption.open(ID, "result", sealed)).isEqualTo(PLAIN);
        assertThat(encryption.seal(ID, "result", PLAIN)).isNotEqualTo(sealed);
        assertThat(encryption.open(ID, "result", encryption.seal(ID, "result", new byte[0])))
                .isEmpty();
    }

    @Test
    @DisplayName("R8 opens what was never sealed, and what the first release has sealed")
    void old() {
        Encryption encryption = Encryption.with(7, KEY_1);
        byte[] sealed = HexFormat.of()
                .parseHex("c54f450100000007000102030405060708090a0bda86e643438c630d3c9fc4b99d7067aa6cbf223133844b46");
        for (byte[] never : List.of(new byte[0], new byte[] {1, 'V', 'x'}, "{}".getBytes(StandardCharsets.UTF_8))) {
            assertThat(encryption.open(ID, "result", never)).isSameAs(never);
        }
        assertThat(encryption.open(ID, "result", sealed)).isEqualTo(PLAIN);
    }

    @Test
    @DisplayName("opens the records of earlier and later keys that are configured")
    void rotation() {
        byte[] old = Encryption.with(1, KEY_1).seal(ID, "result", PLAIN);
        Encryption rotated = Encryption.with(2, KEY_2).and(1, KEY_1);
        assertThat(rotated.open(ID, "result", old)).isEqualTo(PLAIN);
        byte[] sealed = rotated.seal(ID, "result", PLAIN);
        assertThat(Encryption.keyOf(sealed)).isEqualTo(2);
        assertThat(Encryption.with(1, KEY_1).and(2, KEY_2).open(ID, "result", sealed))
                .isEqualTo(PLAIN);
        assertThatThrownBy(() -> Encryption.with(2, KEY_2).open(ID, "result", old))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("key 1")
                .hasMessageContaining("not configured");
        assertThatThrownBy(() -> Encryption.with(1, KEY_2).open(ID, "result", old))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("not with the one configured here");
    }

    @Test
    @DisplayName("does not open what was changed in any byte, or belongs to another entry or another use")
    void tampered() {
        Encryption encryption = Encryption.with(1, KEY_1);
        byte[] sealed = encryption.seal(ID, "result", PLAIN);
        for (EntryId other : List.of(
                new EntryId("zenith", "", "k-1"), new EntryId("acme", "k", "-1"), new EntryId("acme", "", "k-2"))) {
            assertThatThrownBy(() -> encryption.open(other, "result", sealed)).isInstanceOf(StoreUnavailable.class);
        }
        assertThatThrownBy(() -> encryption.open(ID, "answer", sealed)).isInstanceOf(StoreUnavailable.class);
        for (int i = 4; i < sealed.length; i++) {
            byte[] changed = sealed.clone();
            changed[i] ^= 1;
            assertThatThrownBy(() -> encryption.open(ID, "result", changed))
                    .as("byte %d", i)
                    .isInstanceOf(StoreUnavailable.class);
        }
    }

    @Test
    @DisplayName("takes keys of 16 or 32 bytes with ids of their own")
    void keys() {
        assertThatThrownBy(() -> Encryption.with(1, new byte[15]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("16 or 32 bytes, but key 1 has 15");
        assertThatThrownBy(() -> Encryption.with(1, KEY_1).and(1, KEY_2))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("two keys with the id 1");
    }
}
