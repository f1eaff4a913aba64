package dev.onlyonce.testkit;

import dev.onlyonce.store.Store;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.io.TempDirFactory;

/** The contract on the store that the guide builds. */
final class GuideStoreTest extends StoreContract {
    private static final AtomicInteger FILES = new AtomicInteger();

    @TempDir(factory = InMemory.class)
    private static Path folder;

    private static GuideStore guide;

    private final ManualTime time = new ManualTime();
    private final Store store = guide.open(folder.resolve("entries-" + FILES.incrementAndGet()), time);

    /** Thousands of syncs, of which the contract needs none: in memory they cost the build nothing. */
    static final class InMemory implements TempDirFactory {
        private static final Path MEMORY = Path.of("/dev/shm");

        @Override
        public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext context) throws IOException {
            return Files.isWritable(MEMORY)
                    ? Files.createTempDirectory(MEMORY, "onlyonce")
                    : Files.createTempDirectory("onlyonce");
        }
    }

    @BeforeAll
    static void compile() throws Exception {
        guide = new GuideStore(folder);
    }

    @Override
    protected Store open() {
        return store;
    }

    @Override
    protected void advance(Duration span) {
        time.jump(span);
    }
}
