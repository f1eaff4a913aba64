package dev.onlyonce.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

final class EntryIdTest {
    private static final List<String> NAMES = List.of(
            "",
            "a",
            "a ",
            "ab",
            "b",
            "é",
            "\ud7ff",
            "\ue000",
            "\uffff",
            "a\uffff",
            "\ud83d\ude00",
            "\ud83d\ude01",
            "a\ud83d\ude00");

    @Test
    @DisplayName("Ids are in the order of their UTF-8 bytes, as every database has them, also above U+FFFF")
    void ordersLikeBytes() {
        for (String left : NAMES) {
            for (String right : NAMES) {
                int bytes = Arrays.compareUnsigned(
                        left.getBytes(StandardCharsets.UTF_8), right.getBytes(StandardCharsets.UTF_8));
                int order = new EntryId("t", left, "k").compareTo(new EntryId("t", right, "k"));
                assertThat(Integer.signum(order)).as("%s and %s", left, right).isEqualTo(Integer.signum(bytes));
            }
        }
    }

    @Test
    @DisplayName("Ids are ordered by tenant, then space, then key")
    void ordersByPart() {
        List<EntryId> ordered = List.of(
                new EntryId("a", "", "z"),
                new EntryId("a", "b", "a"),
                new EntryId("a", "b", "b"),
                new EntryId("b", "", "a"));
        assertThat(ordered).isSortedAccordingTo(EntryId::compareTo);
    }
}
