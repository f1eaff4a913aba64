package dev.onlyonce.http;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.Key;
import dev.onlyonce.Policy;
import dev.onlyonce.Scope;
import dev.onlyonce.fingerprint.Fingerprinter;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A state-changing action that HTTP requests ask for, and how it is protected. Immutable.
 *
 * @param name unique, stored with every entry: renaming an operation makes retries of its keys mismatches
 * @param method which requests
 * @param path which requests, as a template such as {@code /payments/{id}/capture}
 * @param scope the namespace of its keys
 * @param profile how it behaves towards clients
 * @param policy how it is executed
 * @param keys the format of its keys
 * @param refusePersonalKeys whether keys that look like personal data are refused
 * @param bodyBytesMax the largest request body
 * @param fingerprintHeaders the headers that are part of what is compared
 * @param fingerprinter what is compared
 * @param age how old a request may be; null for not checked
 */
public record Operation(
        String name,
        String method,
        String path,
        Scope scope,
        Profile profile,
        Policy policy,
        KeyFormat keys,
        boolean refusePersonalKeys,
        int bodyBytesMax,
        List<String> fingerprintHeaders,
        Fingerprinter fingerprinter,
        @Nullable RequestAge age) {

    /** Starts from {@link Profile#ietf} and {@link Policy#standard}, with the name {@code METHOD path}. */
    public static Builder builder(String method, String path) {
        return new Builder(method, path);
    }

    /** Whether a request with these headers is the boundary's to decide; if not, its body need not be read. */
    public boolean concerns(Headers headers) {
        return profile.keyRequired() || headers.has(KeyHeader.NAME);
    }

    /** The same, executed otherwise. */
    public Operation policy(Policy other) {
        return new Operation(
                name,
                method,
                path,
                scope,
                profile,
                other,
                keys,
                refusePersonalKeys,
                bodyBytesMax,
                fingerprintHeaders,
                fingerprinter,
                age);
    }

    /** Builds an {@link Operation}. */
    public static final class Builder {
        private final String method;
        private final String path;
        private final Fingerprinter.Builder fingerprinter = Fingerprinter.builder();
        private String name;
        private Scope scope = Scope.TENANT;
        private Profile profile = Profile.ietf();
        private Policy policy = Policy.standard();
        private KeyFormat keys = KeyFormat.any();
        private boolean refusePersonalKeys;
        private int bodyBytesMax = Fingerprinter.BODY_BYTES_MAX_DEFAULT;
        private List<String> fingerprintHeaders = List.of();
        private @Nullable RequestAge age;

        private Builder(String method, String path) {
            this.method = method.toUpperCase(Locale.ROOT);
            this.path = requireNonNull(path, "path");
            this.name = this.method + " " + path;
        }

        /** Another name than {@code METHOD path}; 1-255 characters. */
        public Builder name(String name) {
            this.name = name;
            return this;
        }

        /** The namespace of its keys. */
        public Builder scope(Scope scope) {
            this.scope = scope;
            return this;
        }

        /** How it behaves towards clients. */
        public Builder profile(Profile profile) {
            this.profile = profile;
            return this;
        }

        /** How it is executed. */
        public Builder policy(Policy policy) {
            this.policy = policy;
            return this;
        }

        /** The format of its keys. */
        public Builder keys(KeyFormat keys) {
            this.keys = keys;
            return this;
        }

        /** Refuses keys that look like an e-mail address, a telephone number or a card number. */
        public Builder refusePersonalKeys(boolean refuse) {
            this.refusePersonalKeys = refuse;
            return this;
        }

        /** The largest request body. */
        public Builder bodyBytesMax(int bytes) {
            this.bodyBytesMax = bytes;
            return this;
        }

        /** Headers that are part of what is compared. */
        public Builder fingerprintHeaders(List<String> names) {
            this.fingerprintHeaders = List.copyOf(names);
            return this;
        }

        /** Changes what else is compared: members to ignore, secrets. */
        public Builder fingerprint(Consumer<Fingerprinter.Builder> changes) {
            changes.accept(fingerprinter);
            return this;
        }

        /** Refuses requests that were made long ago. */
        public Builder age(@Nullable RequestAge age) {
            this.age = age;
            return this;
        }

        /** Checks and builds; throws {@link IllegalArgumentException}. */
        public Operation build() {
            Key.checkName("operation", name);
            PathTemplate.check(path);
            fingerprinter.bodyBytesMax(bodyBytesMax).headers(fingerprintHeaders.toArray(String[]::new));
            Policy effective = profile.tombstones()
                    ? policy
                    : policy.toBuilder().tombstone(Duration.ZERO).build();
            if (age != null && age.ageMax().compareTo(effective.terms().retention()) > 0) {
                throw new IllegalArgumentException("requests of " + name + " may be " + age.ageMax()
                        + " old, but their keys are only kept for "
                        + effective.terms().retention() + ": one in between would run as new");
            }
            return new Operation(
                    name,
                    method,
                    path,
                    scope,
                    profile,
                    effective,
                    keys,
                    refusePersonalKeys,
                    bodyBytesMax,
                    fingerprintHeaders,
                    fingerprinter.build(),
                    age);
        }
    }
}
