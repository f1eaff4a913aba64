package dev.onlyonce.client.journal;

import dev.onlyonce.client.JournalException;
import java.io.Closeable;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file of a journal: a head with a random generation, then frames of length, checksum and payload. A frame is appended by
 * one write and one sync, so only the last one can be torn. The checksum covers generation and position too: bytes of one
 * journal that are in the body of a call are not taken for frames of another.
 *
 * <p>It uses a {@link RandomAccessFile}: an interrupt closes a channel, and with it the journal of all other threads.
 */
final class Frames implements Closeable {
    static final int HEAD_BYTES = 24;
    /** A frame holds a batch of records; see {@link FileJournal}. */
    static final int FRAME_BYTES_MAX = 8 << 20;

    private static final byte[] MAGIC = "ONCEJRN1".getBytes(StandardCharsets.US_ASCII);
    private static final int PREFIX_BYTES = 8;
    /** Bytes to check in a broken tail; a body that looks like many frames must not take minutes. */
    private static final long TAIL_WORK_MAX = 256L << 20;

    private static final Logger log = LoggerFactory.getLogger(Frames.class);

    private final Path path;
    private final RandomAccessFile file;
    private final byte[] generation;
    private long end = HEAD_BYTES;

    /** Receives each frame in turn. */
    interface Reader {
        void frame(long position, byte[] payload);
    }

    private Frames(Path path, RandomAccessFile file, byte[] generation) {
        this.path = path;
        this.file = file;
        this.generation = generation;
    }

    /** The first bytes of a new file. */
    static byte[] head(byte[] generation) {
        return ByteBuffer.allocate(HEAD_BYTES).put(MAGIC).put(generation).array();
    }

    /** Opens a file that is there; reads nothing yet but its head. */
    static Frames open(Path path) throws IOException {
        RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw");
        try {
            byte[] head = new byte[HEAD_BYTES];
            if (file.length() < HEAD_BYTES) {
                throw notAJournal(path);
            }
            file.readFully(head);
            if (!Arrays.equals(head, 0, MAGIC.length, MAGIC, 0, MAGIC.length)) {
                throw notAJournal(path);
            }
            return new Frames(path, file, Arrays.copyOfRange(head, MAGIC.length, HEAD_BYTES));
        } catch (IOException | RuntimeException e) {
            file.close();
            throw e;
        }
    }

    private static JournalException notAJournal(Path path) {
        return new JournalException(
                path + " is not a journal; it is left as it is. Name another file, or move this one away");
    }

    /** Whether the path still leads to this file, and not to one that has replaced it. */
    boolean isCurrent() throws IOException {
        try (RandomAccessFile now = new RandomAccessFile(path.toFile(), "r")) {
            byte[] head = new byte[HEAD_BYTES];
            return now.length() >= HEAD_BYTES && now.read(head) == HEAD_BYTES && Arrays.equals(head, head(generation));
        }
    }

    long end() {
        return end;
    }

    /**
     * Reads the frames that were appended since the last call. A torn one at the end is cut off: whoever wrote it died before
     * it was durable. Call it only while nobody else writes.
     *
     * @throws JournalException if the file is damaged
     */
    void catchUp(Reader reader) throws IOException {
        long length = file.length();
        if (length < end) {
            throw new JournalException(
                    path + " has become shorter; somebody else has changed it. Restart with a copy of it");
        }
        long before = end;
        while (end < length) {
            byte[] payload = frameAt(end, length);
            if (payload == null) {
                cutTail(length);
                return;
            }
            reader.frame(end + PREFIX_BYTES, payload);
            end += PREFIX_BYTES + payload.length;
        }
        if (end > before) {
            // Whoever wrote the last frame may have been killed before its sync. A key must be durable before it is
            // used.
            file.getFD().sync();
        }
    }

    private void cutTail(long length) throws IOException {
        if (length - end > FRAME_BYTES_MAX + PREFIX_BYTES || isFollowedByFrame(read(end, (int) (length - end)))) {
            throw new JournalException(
                    path + " is damaged at byte " + end + ", and there is more behind it. Nothing was changed."
                            + " Restore it from a copy, or move it away and find out at the server about the calls in it");
        }
        log.warn(
                "The last record of {} was torn and is cut off, {} bytes; it was never acknowledged",
                path,
                length - end);
        file.setLength(end);
        file.getFD().sync();
    }

    /** Whether a whole frame begins anywhere in these last bytes: then it is not the last frame that is broken. */
    private boolean isFollowedByFrame(byte[] tail) {
        ByteBuffer bytes = ByteBuffer.wrap(tail);
        long work = TAIL_WORK_MAX;
        for (int at = 1; at + PREFIX_BYTES < tail.length && work > 0; at++) {
            int size = bytes.getInt(at);
            if (size > 0 && size <= tail.length - at - PREFIX_BYTES) {
                work -= size;
                byte[] payload = Arrays.copyOfRange(tail, at + PREFIX_BYTES, at + PREFIX_BYTES + size);
                if (bytes.getInt(at + Integer.BYTES) == checksum(end + at, payload)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** The payload of the frame at this position; null if there is none. */
    private byte @Nullable [] frameAt(long at, long length) throws IOException {
        if (length - at <= PREFIX_BYTES) {
            return null;
        }
        ByteBuffer prefix = ByteBuffer.wrap(read(at, PREFIX_BYTES));
        int size = prefix.getInt();
        if (size <= 0 || size > FRAME_BYTES_MAX || size > length - at - PREFIX_BYTES) {
            return null;
        }
        byte[] payload = read(at + PREFIX_BYTES, size);
        return prefix.getInt() == checksum(at, payload) ? payload : null;
    }

    /** Appends a frame, durably. If it fails, the file is as before, or cannot be used any more. */
    long append(byte[] payload) throws IOException {
        ByteBuffer frame = ByteBuffer.allocate(PREFIX_BYTES + payload.length);
        frame.putInt(payload.length).putInt(checksum(end, payload)).put(payload);
        try {
            file.seek(end);
            file.write(frame.array());
            file.getFD().sync();
        } catch (IOException e) {
            takeBack(e);
            throw e;
        }
        long position = end + PREFIX_BYTES;
        end += frame.capacity();
        return position;
    }

    /** Half a frame in the middle would damage the journal. */
    private void takeBack(IOException failure) {
        try {
            file.setLength(end);
            file.getFD().sync();
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
    }

    byte[] read(long position, int length) throws IOException {
        byte[] bytes = new byte[length];
        file.seek(position);
        file.readFully(bytes);
        return bytes;
    }

    /** The checksum of a frame of a file with this generation. */
    static int checksum(byte[] generation, long at, byte[] payload) {
        CRC32C checksum = new CRC32C();
        checksum.update(generation);
        checksum.update(ByteBuffer.allocate(Long.BYTES).putLong(at).flip());
        checksum.update(payload);
        return (int) checksum.getValue();
    }

    private int checksum(long at, byte[] payload) {
        return checksum(generation, at, payload);
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
