package dev.onlyonce.http;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.Key;
import dev.onlyonce.Policy;
import dev.onlyonce.Scope;
import dev.onlyonce.fingerprint.Fingerprinter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A state-changing action that HTTP requests ask for, and how it is protected. Immutable; {@link #builder} makes one.
 */
public final class Operation {
    private final String name;
    private final List<String> formerly;
    private final String method;
    private final String path;
    private final Scope scope;
    private final Profile profile;
    private final Policy policy;
    private final KeyFormat keyFormat;
    private final boolean refusePersonalKeys;
    private final @Nullable String keyField;
    private final int bodyBytesMax;
    private final List<String> fingerprintHeaders;
    private final Fingerprinter fingerprinter;
    private final @Nullable RequestAge requestAge;

    private Operation(Builder builder, Policy policy, Fingerprinter fingerprinter) {
        name = builder.name;
        formerly = builder.formerly;
        method = builder.method;
        path = builder.path;
        scope = builder.scope;
        profile = builder.profile;
        this.policy = policy;
        keyFormat = builder.keyFormat;
        refusePersonalKeys = builder.refusePersonalKeys;
        keyField = builder.keyField;
        bodyBytesMax = builder.bodyBytesMax;
        fingerprintHeaders = builder.fingerprintHeaders;
        this.fingerprinter = fingerprinter;
        requestAge = builder.requestAge;
    }

    private Operation(Operation other, Profile profile, Policy policy) {
        name = other.name;
        formerly = other.formerly;
        method = other.method;
        path = other.path;
        scope = other.scope;
        this.profile = profile;
        this.policy = policy;
        keyFormat = other.keyFormat;
        refusePersonalKeys = other.refusePersonalKeys;
        keyField = other.keyField;
        bodyBytesMax = other.bodyBytesMax;
        fingerprintHeaders = other.fingerprintHeaders;
        fingerprinter = other.fingerprinter;
        requestAge = other.requestAge;
    }

    /** Starts from {@link Profile#ietf} and {@link Policy#standard}, with the name {@code METHOD path}. */
    public static Builder builder(String method, String path) {
        return new Builder(method, path);
    }

    /** The name; unique, stored with every entry. After renaming, retries of older keys are mismatches: see {@link #formerly}. */
    public String name() {
        return name;
    }

    /** Names under which older keys are stored. */
    public List<String> formerly() {
        return formerly;
    }

    /** The method of its requests, in upper case. */
    public String method() {
        return method;
    }

    /** The path of its requests, as a template such as {@code /payments/{id}/capture}. */
    public String path() {
        return path;
    }

    /** The namespace of its keys. */
    public Scope scope() {
        return scope;
    }

    /** How it behaves towards clients. */
    public Profile profile() {
        return profile;
    }

    /** How it is executed. */
    public Policy policy() {
        return policy;
    }

    /** The format of its keys. */
    public KeyFormat keyFormat() {
        return keyFormat;
    }

    /** Whether keys that look like personal data are refused. */
    public boolean refusePersonalKeys() {
        return refusePersonalKeys;
    }

    /** The field of HTML forms that has the key; null if only the header has it. */
    @Nullable
    public String keyField() {
        return keyField;
    }

    /** The largest request body. */
    public int bodyBytesMax() {
        return bodyBytesMax;
    }

    /** The headers that are part of the fingerprint. */
    public List<String> fingerprintHeaders() {
        return fingerprintHeaders;
    }

    /** Makes the fingerprint of a request. */
    public Fingerprinter fingerprinter() {
        return fingerprinter;
    }

    /** How old a request may be; null for any age. */
    @Nullable
    public RequestAge requestAge() {
        return requestAge;
    }

    /** Whether the boundary decides on a request with these headers; if not, nobody need read its body. */
    public boolean concerns(Headers headers) {
        return profile.keyRequired() || headers.has(profile.keyHeader()) || Repeatability.isMissing(profile, headers);
    }

    /** The same under another policy. */
    public Operation policy(Policy other) {
        return new Operation(this, profile, other);
    }

    /** The same with another profile. */
    public Operation profile(Profile other) {
        return new Operation(this, other, policy);
    }

    /** Builds an {@link Operation}. */
    public static final class Builder {
        private final String method;
        private final String path;
        private final Fingerprinter.Builder fingerprinter = Fingerprinter.builder();
        private String name;
        private List<String> formerly = List.of();
        private Scope scope = Scope.TENANT;
        private Profile profile = Profile.ietf();
        private Policy policy = Policy.standard();
        private KeyFormat keyFormat = KeyFormat.any();
        private boolean refusePersonalKeys;
        private @Nullable String keyField;
        private int bodyBytesMax = Fingerprinter.BODY_BYTES_MAX_DEFAULT;
        private List<String> fingerprintHeaders = List.of();
        private @Nullable RequestAge requestAge;

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

        /**
         * Names that the operation had: retries of keys that are stored under them are not mismatches. Each request then reads
         * the store once more, so remove a name when its retention is over.
         */
        public Builder formerly(List<String> names) {
            this.formerly = List.copyOf(names);
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
        public Builder keyFormat(KeyFormat format) {
            this.keyFormat = format;
            return this;
        }

        /** Refuses keys that look like an e-mail address, a telephone number or a card number. */
        public Builder refusePersonalKeys(boolean refuse) {
            this.refusePersonalKeys = refuse;
            return this;
        }

        /**
         * Also takes the key from this field of an HTML form ({@code application/x-www-form-urlencoded}), because a browser's form
         * cannot send a header. {@link KeyField#fresh} makes its value. The header still counts; if both are there, they must be
         * the same key. The field is not part of the fingerprint. The operation must require keys.
         */
        public Builder keyField(@Nullable String name) {
            this.keyField = name;
            return this;
        }

        /** The largest request body. */
        public Builder bodyBytesMax(int bytes) {
            this.bodyBytesMax = bytes;
            return this;
        }

        /** Headers that are part of the fingerprint. */
        public Builder fingerprintHeaders(List<String> names) {
            this.fingerprintHeaders = List.copyOf(names);
            return this;
        }

        /** JSON pointers of body members that are not part of the fingerprint. */
        public Builder ignoredMembers(List<String> pointers) {
            fingerprinter.ignore(pointers.toArray(String[]::new));
            return this;
        }

        /** Changes the rest of the fingerprint, such as its secret. */
        public Builder fingerprint(Consumer<Fingerprinter.Builder> changes) {
            changes.accept(fingerprinter);
            return this;
        }

        /** Refuses requests that were made long ago. */
        public Builder requestAge(@Nullable RequestAge age) {
            this.requestAge = age;
            return this;
        }

        /** Checks and builds; throws {@link IllegalArgumentException}. */
        public Operation build() {
            Key.checkName("operation", name);
            formerly.forEach(former -> Key.checkName("former name of " + name, former));
            if (!formerly.isEmpty() && scope == Scope.OPERATION) {
                throw new IllegalArgumentException("keys of " + name
                        + " are unique in their operation, so under another name they are other keys: an operation"
                        + " with this scope cannot have former names");
            }
            PathTemplate.check(path);
            if (keyField != null) {
                KeyField.check(keyField, name, profile);
            }
            List<String> compared = new ArrayList<>(fingerprintHeaders);
            if (profile.isOasis()) {
                compared.add(Repeatability.CLIENT_ID);
            }
            fingerprinter.bodyBytesMax(bodyBytesMax).headers(compared.toArray(String[]::new));
            Policy effective = profile.tombstones()
                    ? policy
                    : policy.toBuilder().tombstone(Duration.ZERO).build();
            if (profile.isOasis() && requestAge == null) {
                requestAge = RequestAge.of(
                        Repeatability.FIRST_SENT, effective.terms().retention());
            }
            if (requestAge != null
                    && requestAge.max().compareTo(effective.terms().retention()) > 0) {
                throw new IllegalArgumentException("requests of " + name + " may be " + requestAge.max()
                        + " old, but their keys are only kept for "
                        + effective.terms().retention() + ": one in between would run as new");
            }
            return new Operation(this, effective, fingerprinter.build());
        }
    }
}
