package dev.onlyonce.testkit;

import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Random histories, beside the same ones in memory, where {@link dev.onlyonce.store.Life} alone decides. */
interface HistoryChapter extends Chapter {
    int HISTORIES = Boolean.getBoolean("onlyonce.thorough") ? 200 : 10;

    @Test
    @DisplayName("E6 on random histories the store answers, keeps and audits what the rule book says")
    default void followsTheRuleBook() {
        long first = Optional.ofNullable(Long.getLong("onlyonce.seed")).orElseGet(() -> new Random().nextLong());
        History history = new History(bench());
        for (int i = 0; i < HISTORIES; i++) {
            history.run(first + i);
        }
    }
}
