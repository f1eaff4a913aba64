package dev.onlyonce.testservers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The programs of servers")
class BinariesTest {
    private static final int THREADS = 4;

    @TempDir
    Path folder;

    @Test
    @DisplayName("Builds that unpack a server at the same time all find it whole")
    void atOnce() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        try {
            for (int round = 0; round < 200; round++) {
                Path target = folder.resolve("server" + round);
                CyclicBarrier start = new CyclicBarrier(THREADS);
                List<Future<?>> placed = new ArrayList<>();
                for (int thread = 0; thread < THREADS; thread++) {
                    Path draft = Files.createDirectory(folder.resolve("draft" + round + "-" + thread));
                    Files.writeString(draft.resolve("program"), "whole");
                    placed.add(pool.submit(() -> {
                        start.await();
                        Binaries.place(draft, target);
                        return null;
                    }));
                }
                for (Future<?> one : placed) {
                    one.get();
                }
                assertThat(target.resolve("program")).hasContent("whole");
            }
        } finally {
            pool.shutdownNow();
        }
    }

    @Test
    @DisplayName("A draft that cannot be placed is an error")
    void noFolder() throws Exception {
        Path draft = Files.createDirectory(folder.resolve("draft"));
        assertThatThrownBy(() -> Binaries.place(draft, folder.resolve("absent/server")))
                .isInstanceOf(FileSystemException.class);
    }
}
