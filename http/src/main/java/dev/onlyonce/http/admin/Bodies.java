package dev.onlyonce.http.admin;

import static java.util.Objects.requireNonNull;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** What is posted to the admin API, and the short answers. Each checks that what came from outside is whole. */
public final class Bodies {
    private Bodies() {}

    /** What is posted to {@code /v1/keys/resolve}; also what a service posts that found out about an outcome by itself. */
    public record Resolve(AdminOperator.KeyName key, AdminOperator.Finding finding) {
        /** Checks that both are there. */
        public Resolve {
            requireNonNull(key, "key is missing");
            requireNonNull(finding, "finding is missing");
        }
    }

    /** What is posted to {@code /v1/keys/note}. */
    public record Note(AdminOperator.KeyName key, String text) {
        /** Checks that both are there. */
        public Note {
            requireNonNull(key, "key is missing");
            requireNonNull(text, "text is missing");
        }
    }

    /** What is posted to {@code /v1/keys/evict}. */
    public record Evict(AdminOperator.KeyName key, String reason) {
        /** Checks that both are there. */
        public Evict {
            requireNonNull(key, "key is missing");
            requireNonNull(reason, "reason is missing");
        }
    }

    /** What is posted to {@code /v1/keys/match}. */
    public record Match(AdminOperator.KeyName key, Matching.Sample request) {
        /** Checks that both are there. */
        public Match {
            requireNonNull(key, "key is missing");
            requireNonNull(request, "request is missing");
        }
    }

    /**
     * What is posted to {@code /v1/reconcile/run}.
     *
     * @param key which; none for all
     */
    public record Ask(AdminOperator.@Nullable KeyName key) {}

    /** What is posted to {@code /v1/reconcile/resolve}. */
    public record ResolveAll(List<AdminOperator.AtAttempt> keys, AdminOperator.Finding finding) {
        /** Checks that both are there. */
        public ResolveAll {
            requireNonNull(keys, "keys are missing");
            requireNonNull(finding, "finding is missing");
        }
    }

    /** What is posted to {@code /v1/outbox/retry} and {@code /v1/outbox/drop}. */
    public record Letter(long id, String reason) {
        /** Checks that the reason is there. */
        public Letter {
            requireNonNull(reason, "reason is missing");
        }
    }

    /** What is posted to {@code /v1/store/accept}. */
    public record Acceptance(String reason) {
        /** Checks that it is there. */
        public Acceptance {
            requireNonNull(reason, "reason is missing");
        }
    }

    /** Nothing needs to be posted. */
    public record Nothing() {}

    /** It is done: one of them is true. */
    public record Done(
            @Nullable Boolean evicted,
            @Nullable Boolean retried,
            @Nullable Boolean dropped,
            @Nullable Boolean accepted) {
        static final Done EVICTED = new Done(true, null, null, null);
        static final Done RETRIED = new Done(null, true, null, null);
        static final Done DROPPED = new Done(null, null, true, null);
        static final Done ACCEPTED = new Done(null, null, null, true);
    }
}
