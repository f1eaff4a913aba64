package dev.onlyonce.testkit;

import dev.onlyonce.Claim;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The effects of operations, one line each, in a file that several processes append to. What was appended survives the end of its
 * process, however sudden. Any number of threads and processes.
 */
public final class EffectFile {
    private final Path file;

    /** A file that exists, or is made by the first effect. */
    public EffectFile(Path file) {
        this.file = file;
    }

    /** The effect of a claim. */
    public void add(Claim claim) {
        // One write of a few bytes at the end of a file is atomic.
        String line = claim.key().value() + " attempt " + claim.attempt() + "\n";
        try (FileChannel channel = FileChannel.open(
                file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND)) {
            channel.write(ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** How many effects there are. */
    public int size() {
        return lines().size();
    }

    /** How often each key took effect. */
    public Map<String, Integer> perKey() {
        Map<String, Integer> counts = new HashMap<>();
        lines().forEach(line -> counts.merge(line.substring(0, line.indexOf(' ')), 1, Integer::sum));
        return counts;
    }

    private List<String> lines() {
        try {
            return Files.exists(file) ? Files.readAllLines(file) : List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
