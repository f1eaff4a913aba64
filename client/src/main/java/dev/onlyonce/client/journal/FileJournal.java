package dev.onlyonce.client.journal;

import dev.onlyonce.client.CallResponse;
import dev.onlyonce.client.ClientTime;
import dev.onlyonce.client.Journal;
import dev.onlyonce.client.JournalException;
import dev.onlyonce.client.JournaledCall;
import dev.onlyonce.client.journal.JournalIndex.Slot;
import dev.onlyonce.client.journal.JournalIndex.Span;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A journal in one file, which only its owner can read. Several processes may use it at once.
 *
 * <ol>
 *   <li>Every change is a record. The records of threads that wait at the same time go into one frame, with one sync.
 *   <li>Whoever writes holds a lock on a file beside it, and first reads what others have appended.
 *   <li>If a frame cannot be written whole (a full disk), it is taken back and its calls fail before they are sent.
 *   <li>When half of the file is of no use any more, a new file with the rest is written, synced and put in its place.
 * </ol>
 */
public final class FileJournal implements Journal {
    private static final Duration KEEP = Duration.ofDays(30);
    private static final long COMPACT_FROM_BYTES = 1 << 20;
    private static final int BATCH_MAX = 256;
    private static final int BATCH_BYTES_MAX = Frames.FRAME_BYTES_MAX / 2;
    private static final Logger log = LoggerFactory.getLogger(FileJournal.class);

    private final JournalFiles files;
    private final ClientTime time;
    private final Duration keep;
    private final ReentrantLock lock = new ReentrantLock();
    private final Queue<Change> waiting = new ConcurrentLinkedQueue<>();

    // Guarded by lock.
    private @Nullable Frames frames;
    private JournalIndex index = new JournalIndex();
    private long compactAt = COMPACT_FROM_BYTES;
    private boolean closed;

    /** Decides, by what is in the journal, on a record to append. */
    private interface Decision {
        byte @Nullable [] record(JournalIndex index) throws IOException;
    }

    /** A change that waits for its turn. */
    private static final class Change {
        private final String id;
        private final Decision decision;
        private boolean done;
        private @Nullable JournalException failure;

        Change(String id, Decision decision) {
            this.id = id;
            this.decision = decision;
        }
    }

    private FileJournal(Path file, ClientTime time, Duration keep) {
        this.files = new JournalFiles(file);
        this.time = time;
        this.keep = keep;
    }

    /**
     * Opens a journal, or makes one. Answers are kept for 30 days.
     *
     * @throws JournalException if the file is no journal, is damaged, or others can read it
     */
    public static FileJournal open(Path file) {
        return open(file, KEEP, ClientTime.system());
    }

    /**
     * Opens a journal, or makes one.
     *
     * @param keep how long answers are kept. A call with an id whose answer is forgotten gets a new key. When there are a million
     *     answers, new calls are refused
     */
    public static FileJournal open(Path file, Duration keep, ClientTime time) {
        FileJournal journal = new FileJournal(JournalFiles.real(file), time, keep);
        try {
            var unused = journal.locked(Frames::end);
            return journal;
        } catch (RuntimeException | Error e) {
            journal.close();
            throw e;
        }
    }

    @Override
    public Optional<JournaledCall> begin(JournaledCall call) {
        byte[] record = JournalIndex.record(
                JournalIndex.BEGUN, call.id(), call.progress().createdAt(), RecordCodec.encode(call));
        List<JournaledCall> earlier = new ArrayList<>(1);
        change(call.id(), known -> {
            Optional<Slot> slot = known.find(call.id());
            if (slot.isPresent()) {
                earlier.add(read(slot.get()));
                return null;
            }
            known.checkRoom(time.now(), keep);
            return record;
        });
        return earlier.stream().findFirst();
    }

    @Override
    public void sending(String id, Instant at) {
        changeIfThere(id, JournalIndex.record(JournalIndex.SENDING, id, at, new byte[0]));
    }

    @Override
    public void expires(String id, Instant keyExpiresAt) {
        changeIfThere(id, JournalIndex.record(JournalIndex.EXPIRES, id, keyExpiresAt, new byte[0]));
    }

    @Override
    public void settle(String id, CallResponse answer, Instant at) {
        byte[] record = JournalIndex.record(JournalIndex.SETTLED, id, at, RecordCodec.encode(answer));
        change(id, known -> known.find(id).filter(Slot::isOpen).isPresent() ? record : null);
    }

    @Override
    public boolean forget(String id) {
        return changeIfThere(id, JournalIndex.record(JournalIndex.FORGOTTEN, id, time.now(), new byte[0]));
    }

    @Override
    public Optional<JournaledCall> find(String id) {
        return locked(open -> {
            Optional<Slot> slot = index.find(id);
            return slot.isEmpty() ? Optional.<JournaledCall>empty() : Optional.of(read(slot.get()));
        });
    }

    @Override
    public List<String> pending() {
        return locked(open -> index.pending());
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            if (frames != null) {
                frames.close();
            }
            files.close();
        } catch (IOException | JournalException e) {
            log.warn("The journal {} could not be closed", files.path(), e);
        } finally {
            lock.unlock();
        }
    }

    private JournaledCall read(Slot slot) throws IOException {
        Frames open = opened();
        Span answer = slot.answer();
        CallResponse response =
                answer == null ? null : RecordCodec.decodeAnswer(open.read(answer.position(), answer.length()));
        byte[] begun = open.read(slot.begun().position(), slot.begun().length());
        return RecordCodec.decode(begun, slot.sentAt(), slot.keyExpiresAt(), response);
    }

    private Frames opened() {
        if (frames == null) {
            throw new IllegalStateException("not opened yet");
        }
        return frames;
    }

    private boolean changeIfThere(String id, byte[] record) {
        boolean[] there = new boolean[1];
        change(id, known -> {
            there[0] = known.find(id).isPresent();
            return there[0] ? record : null;
        });
        return there[0];
    }

    /** Whoever gets the lock writes for all that wait. */
    private void change(String id, Decision decision) {
        Change change = new Change(id, decision);
        waiting.add(change);
        lock.lock();
        try {
            while (!change.done) {
                List<Change> batch = batch();
                try {
                    var unused = locked(open -> write(open, batch));
                } catch (JournalException e) {
                    endAll(batch, e);
                } catch (RuntimeException | Error e) {
                    endAll(batch, new JournalException("The journal failed: " + e, e));
                    throw e;
                }
            }
        } finally {
            lock.unlock();
        }
        if (change.failure != null) {
            throw new JournalException(String.valueOf(change.failure.getMessage()), change.failure);
        }
    }

    private static void end(Change change, @Nullable JournalException failure) {
        change.failure = failure;
        change.done = true;
    }

    private static void endAll(List<Change> batch, JournalException failure) {
        batch.stream().filter(each -> !each.done).forEach(each -> end(each, failure));
    }

    /** One change for an id: the next one has to see it. */
    private List<Change> batch() {
        List<Change> batch = new ArrayList<>();
        Set<String> ids = new HashSet<>();
        Queue<Change> later = new ArrayDeque<>();
        for (Change next = waiting.poll(); next != null; next = waiting.poll()) {
            if (next.done) {
                continue;
            }
            if (batch.size() < BATCH_MAX && ids.add(next.id)) {
                batch.add(next);
            } else {
                later.add(next);
            }
        }
        waiting.addAll(later);
        return batch;
    }

    /** Returns how many records were written. */
    private int write(Frames open, List<Change> batch) throws IOException {
        ByteArrayOutputStream payload = new ByteArrayOutputStream();
        List<Change> written = new ArrayList<>();
        for (Change change : batch) {
            try {
                byte[] record = change.decision.record(index);
                if (record == null) {
                    end(change, null);
                } else if (payload.size() > 0 && payload.size() + record.length > BATCH_BYTES_MAX) {
                    waiting.add(change);
                } else {
                    payload.writeBytes(record);
                    written.add(change);
                }
            } catch (JournalException e) {
                end(change, e);
            }
        }
        if (written.isEmpty()) {
            return 0;
        }
        try {
            index.apply(open.append(payload.toByteArray()), payload.toByteArray());
            written.forEach(change -> end(change, null));
        } catch (IOException e) {
            JournalException failure = trouble(e);
            written.forEach(change -> end(change, failure));
            return 0;
        }
        compactIfDue(open);
        return written.size();
    }

    private JournalException trouble(IOException e) {
        return new JournalException(
                "The journal " + files.path() + " cannot be written, so nothing was sent: " + e.getMessage()
                        + ". Check the disk's space and the file's owner",
                e);
    }

    /** Work that is done while this process has the journal for itself. */
    private interface Work<T> {
        T with(Frames open) throws IOException;
    }

    private <T> T locked(Work<T> work) {
        lock.lock();
        try {
            if (closed) {
                throw new JournalException("The journal " + files.path() + " is closed");
            }
            JournalFiles.Held held = files.hold();
            try {
                return work.with(current());
            } finally {
                held.release();
            }
        } catch (IOException e) {
            throw trouble(e);
        } catch (UncheckedIOException e) {
            throw new JournalException(files.path() + ": " + e.getMessage(), e);
        } finally {
            lock.unlock();
        }
    }

    /** Opens the file if it is new or was replaced, and reads what others have appended. */
    private Frames current() throws IOException {
        if (frames != null && !frames.isCurrent()) {
            frames.close();
            frames = null;
        }
        if (frames == null) {
            files.create();
            Frames opened = Frames.open(files.path());
            try {
                files.checkOwnerOnly();
                // Whoever made the file may have died before its name was durable.
                files.syncDirectory();
            } catch (IOException | JournalException e) {
                opened.close();
                throw e;
            }
            index = new JournalIndex();
            frames = opened;
        }
        frames.catchUp(index::apply);
        return frames;
    }

    private void compactIfDue(Frames open) {
        if (open.end() < compactAt) {
            return;
        }
        Map<String, Slot> kept = index.kept(time.now(), keep);
        long useful = kept.values().stream().mapToLong(Slot::bytes).sum();
        if (useful * 2 < open.end()) {
            try {
                files.replace(into -> {
                    for (Map.Entry<String, Slot> entry : kept.entrySet()) {
                        into.frame(records(entry.getKey(), entry.getValue()));
                    }
                });
                useful = 0;
            } catch (IOException | UncheckedIOException e) {
                // The old file is whole and stays in use.
                log.warn("The journal {} could not be compacted", files.path(), e);
            }
        }
        compactAt = Math.max(COMPACT_FROM_BYTES, useful == 0 ? 0 : open.end() * 2);
    }

    private byte[] records(String id, Slot slot) throws IOException {
        Frames open = opened();
        Span begun = slot.begun();
        ByteArrayOutputStream records = new ByteArrayOutputStream();
        records.writeBytes(JournalIndex.record(
                JournalIndex.BEGUN, id, Instant.EPOCH, open.read(begun.position(), begun.length())));
        if (slot.sentAt() != null) {
            records.writeBytes(JournalIndex.record(JournalIndex.SENDING, id, slot.sentAt(), new byte[0]));
        }
        if (slot.keyExpiresAt() != null) {
            records.writeBytes(JournalIndex.record(JournalIndex.EXPIRES, id, slot.keyExpiresAt(), new byte[0]));
        }
        Span answer = slot.answer();
        if (answer != null && slot.settledAt() != null) {
            records.writeBytes(JournalIndex.record(
                    JournalIndex.SETTLED, id, slot.settledAt(), open.read(answer.position(), answer.length())));
        }
        return records.toByteArray();
    }
}
