package dev.onlyonce.http.admin;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.onlyonce.store.Time;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Optional;

/** Who is logged in. Sessions are in memory: a restart ends them all. Thread-safe. */
final class Sessions {
    private static final Duration IDLE_MAX = Duration.ofMinutes(15);
    private static final Duration AGE_MAX = Duration.ofHours(8);
    private static final int SESSIONS_MAX = 1000;
    private static final int RANDOM_BYTES = 32;

    private final SecureRandom random = new SecureRandom();
    private final Time time;
    /** By the hash of their ids: memory that leaks gives nobody a session. */
    private final Cache<String, Session> sessions;

    /** Somebody who is logged in. */
    record Session(String name, Caller caller, String csrf, Instant since) {
        boolean isToken(Optional<String> given) {
            return given.isPresent()
                    && MessageDigest.isEqual(
                            csrf.getBytes(StandardCharsets.UTF_8), given.get().getBytes(StandardCharsets.UTF_8));
        }

        Instant expiresAt(Instant now) {
            Instant idle = now.plus(IDLE_MAX);
            Instant old = since.plus(AGE_MAX);
            return idle.isBefore(old) ? idle : old;
        }
    }

    /** A new session and the id that its cookie carries. */
    record Opened(String id, Session session) {}

    Sessions(Time time) {
        this.time = time;
        sessions = Caffeine.newBuilder()
                .ticker(time::nanos)
                .maximumSize(SESSIONS_MAX)
                .expireAfterAccess(IDLE_MAX)
                .build();
    }

    Opened open(String name, Caller caller) {
        String id = word();
        Session session = new Session(name, caller, word(), time.now());
        sessions.put(hash(id), session);
        return new Opened(id, session);
    }

    private String word() {
        byte[] bytes = new byte[RANDOM_BYTES];
        random.nextBytes(bytes);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    private static String hash(String id) {
        return Base64.getEncoder().encodeToString(Replies.sha256(id.getBytes(StandardCharsets.UTF_8)));
    }

    Optional<Session> find(Optional<String> id) {
        return id.map(it -> sessions.getIfPresent(hash(it)))
                .filter(session -> session.since().plus(AGE_MAX).isAfter(time.now()));
    }

    void close(Optional<String> id) {
        id.ifPresent(it -> sessions.invalidate(hash(it)));
    }
}
