package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.sql.LedgerReconciliation.Difference;
import dev.onlyonce.sql.LedgerReconciliation.Line;
import dev.onlyonce.sql.LedgerReconciliation.Summary;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Ledger reconciliation")
class LedgerReconciliationTest {
    private final List<Difference> found = new ArrayList<>();

    @Test
    @DisplayName("W6 finds what is missing, extra, different, and charged twice")
    void finds() {
        Summary summary = compare(
                List.of(line("a", 1), line("b", 2), line("d", 4), line("f", 6)),
                List.of(line("a", 1), line("a", 1), line("c", 3), line("d", 5), line("g", 7)));
        assertThat(found)
                .containsExactly(
                        new Difference.Extra(line("a", 1)),
                        new Difference.Missing(line("b", 2)),
                        new Difference.Extra(line("c", 3)),
                        new Difference.Different(line("d", 4), line("d", 5)),
                        new Difference.Missing(line("f", 6)),
                        new Difference.Extra(line("g", 7)));
        assertThat(summary).isEqualTo(new Summary(1, 2, 3, 1));
        assertThat(summary.isClean()).isFalse();
    }

    @Test
    @DisplayName("W6 another status is a difference; an empty side is all missing or all extra")
    void edges() {
        compare(List.of(line("a", 1)), List.of(new Line("a", 1, "refunded")));
        assertThat(found).hasSize(1).first().isInstanceOf(Difference.Different.class);
        assertThat(compare(List.of(), List.of()).isClean()).isTrue();
        assertThat(compare(List.of(line("a", 1)), List.of())).isEqualTo(new Summary(0, 1, 0, 0));
        assertThat(compare(List.of(), List.of(line("a", 1)))).isEqualTo(new Summary(0, 0, 1, 0));
    }

    @Test
    @DisplayName("W6 a million lines are compared as they come")
    void streams() {
        assertThat(LedgerReconciliation.compare(lines(), lines(), found::add))
                .isEqualTo(new Summary(1_000_000, 0, 0, 0));
    }

    @Test
    @DisplayName("A side that is not sorted is refused, not misread")
    void unsorted() {
        assertThatThrownBy(() -> compare(List.of(line("b", 1), line("a", 1)), List.of(line("a", 1), line("b", 1))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("not sorted");
    }

    private Summary compare(List<Line> local, List<Line> provider) {
        return LedgerReconciliation.compare(local.iterator(), provider.iterator(), found::add);
    }

    private static Iterator<Line> lines() {
        return IntStream.range(1_000_000, 2_000_000)
                .mapToObj(i -> line(String.valueOf(i), i))
                .iterator();
    }

    private static Line line(String id, long amount) {
        return new Line(id, amount, "paid");
    }
}
