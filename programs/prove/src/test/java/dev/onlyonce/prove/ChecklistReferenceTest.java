package dev.onlyonce.prove;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The checklist")
class ChecklistReferenceTest {
    private static final Path PAGE = Path.of("../../docs/reference/checklist.md");

    @TempDir
    Path folder;

    @Test
    @DisplayName("is passed, item by item, by two gateways and two nodes")
    void passes() throws Exception {
        List<Checklist.Result> told = new ArrayList<>();
        List<Checklist.Result> results = Checklist.run(folder, told::add);
        assertThat(results).extracting(Checklist.Result::item).containsExactly(CheckItem.values());
        assertThat(results).filteredOn(result -> !result.passed()).isEmpty();
        assertThat(told).isEqualTo(results);
    }

    @Test
    @DisplayName("is the page of the reference")
    void page() throws Exception {
        if (Boolean.getBoolean("reference.write")) {
            Files.writeString(PAGE, ChecklistPage.text());
            return;
        }
        assertThat(Files.readString(PAGE))
                .as("to bring the page up to date, run this test with -Dreference.write=true")
                .isEqualTo(ChecklistPage.text());
    }
}
