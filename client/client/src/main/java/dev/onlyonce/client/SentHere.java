package dev.onlyonce.client;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** When this client began to send its open calls, on the monotonic clock: the wall clock may be set back meanwhile. */
final class SentHere {
    private final ClientTime time;
    private final Map<String, Long> nanos = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
            // Calls that other processes have ended stay here.
            return size() > Journal.OPEN_MAX;
        }
    };

    SentHere(ClientTime time) {
        this.time = time;
    }

    /** Notes the first sending. */
    synchronized void sending(String id) {
        nanos.putIfAbsent(id, time.nanos());
    }

    /** Since the first sending here; zero if there was none. */
    synchronized Duration age(String id) {
        Long begun = nanos.get(id);
        return begun == null ? Duration.ZERO : Duration.ofNanos(time.nanos() - begun);
    }

    synchronized void forget(String id) {
        nanos.remove(id);
    }
}
