package dev.onlyonce.spring.operations;

import dev.onlyonce.FailureRule;
import dev.onlyonce.Policy;
import dev.onlyonce.http.KeyFormat;
import dev.onlyonce.http.Operation;
import dev.onlyonce.http.Profile;
import dev.onlyonce.http.RequestAge;
import dev.onlyonce.spring.Idempotent;
import dev.onlyonce.spring.OnlyonceProperties;
import dev.onlyonce.spring.OnlyonceProperties.OperationSettings;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.convert.DurationStyle;

/** Puts together what an annotation, the operation's own settings and the defaults say. */
public final class OperationFactory {
    private final OnlyonceProperties properties;
    private final Duration waitMax;
    private final FailureRule failures;

    public OperationFactory(OnlyonceProperties properties, Duration waitMax, FailureRule failures) {
        this.properties = properties;
        this.waitMax = waitMax;
        this.failures = failures;
    }

    /** A handler's operation; throws {@link InvalidSettings}. */
    public Operation operation(Idempotent annotation, String method, String path) {
        String name = annotation.operation().isEmpty() ? method + " " + path : annotation.operation();
        OperationSettings own = properties.operations().getOrDefault(name, OperationSettings.none());
        try {
            Operation.Builder builder = Operation.builder(method, path)
                    .name(name)
                    .formerly(formerly(name))
                    .scope(own.scope() == null ? annotation.scope() : own.scope())
                    .profile(profile(annotation, own))
                    .policy(policy(annotation, name))
                    .keyFormat(keyFormat(own.keyFormat()))
                    .refusePersonalKeys(
                            Objects.requireNonNullElse(own.refusePersonalKeys(), properties.refusePersonalKeys()))
                    .keyField(keyField(annotation, own))
                    .bodyBytesMax(Objects.requireNonNullElse(own.bodyBytesMax(), properties.bodyBytesMax()))
                    .fingerprintHeaders(own.fingerprintHeaders())
                    .ignoredMembers(own.ignoredMembers());
            OnlyonceProperties.RequestAgeSettings age = own.requestAge();
            if (age != null) {
                Duration max =
                        age.max() == null ? policy(annotation, name).terms().retention() : age.max();
                builder.requestAge(RequestAge.of(age.header(), max));
            }
            return builder.build();
        } catch (IllegalArgumentException e) {
            throw invalid(name, e);
        }
    }

    /** The names that an operation had. */
    public List<String> formerly(String name) {
        OperationSettings own = properties.operations().get(name);
        return own == null ? List.of() : own.formerly();
    }

    /** How a handler's operation is executed; throws {@link InvalidSettings}. */
    public Policy policy(Idempotent annotation, String name) {
        return policy(annotation, name, false);
    }

    /**
     * How an operation is executed; throws {@link InvalidSettings}.
     *
     * @param listener whether its keys are ids of messages, for which other defaults hold
     */
    public Policy policy(Idempotent annotation, String name, boolean listener) {
        OnlyonceProperties.MessageSettings messages = properties.messages();
        Duration retention = listener ? messages.retention() : properties.retention();
        Duration wait = listener ? messages.waitMax() : waitMax;
        OperationSettings own = properties.operations().getOrDefault(name, OperationSettings.none());
        try {
            Policy.Builder builder = Policy.builder();
            Duration heldMax = own.heldMax() == null ? properties.heldMax() : own.heldMax();
            if (heldMax != null) {
                builder.heldMax(heldMax);
            }
            return builder.lease(first(own.lease(), annotation.lease(), properties.lease()))
                    .onLeaseLost(Objects.requireNonNullElse(own.onLeaseLost(), properties.onLeaseLost()))
                    .callMax(Objects.requireNonNullElse(own.callMax(), properties.callMax()))
                    .retention(first(own.retention(), annotation.retention(), retention))
                    .tombstone(Objects.requireNonNullElse(own.tombstone(), properties.tombstone()))
                    .waitMax(Objects.requireNonNullElse(own.waitMax(), wait))
                    .resultBytesMax(Objects.requireNonNullElse(own.resultBytesMax(), properties.resultBytesMax()))
                    .failures(failures)
                    .build();
        } catch (IllegalArgumentException e) {
            throw invalid(name, e);
        }
    }

    private static InvalidSettings invalid(String name, IllegalArgumentException e) {
        return new InvalidSettings(
                "The operation \"" + name + "\" cannot be protected as configured: " + e.getMessage(),
                "Change onlyonce.* or onlyonce.operations.\"[" + name + "]\".* in the configuration, or the @Idempotent"
                        + " annotation of its method.",
                e);
    }

    private Profile profile(Idempotent annotation, OperationSettings own) {
        String name = own.profile() != null
                ? own.profile()
                : annotation.profile().isEmpty() ? properties.profile() : annotation.profile();
        Profile.Builder profile = Profile.of(name).toBuilder();
        if (own.keyRequired() != null) {
            profile.keyRequired(own.keyRequired());
        }
        if (own.whenRunning() != null) {
            profile.whenRunning(own.whenRunning());
        }
        if (own.onServerError() != null) {
            profile.onServerError(own.onServerError());
        }
        return profile.build();
    }

    private static @Nullable String keyField(Idempotent annotation, OperationSettings own) {
        if (own.keyField() != null) {
            return own.keyField();
        }
        return annotation.keyField().isEmpty() ? null : annotation.keyField();
    }

    private static KeyFormat keyFormat(@Nullable String format) {
        if (format == null || format.equals("any")) {
            return KeyFormat.any();
        }
        if (format.equals("uuid")) {
            return KeyFormat.uuid();
        }
        try {
            return KeyFormat.lengthMin(Integer.parseInt(format));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "key-format must be any, uuid, or the least number of characters: " + format, e);
        }
    }

    private static Duration first(@Nullable Duration own, String annotated, Duration otherwise) {
        if (own != null) {
            return own;
        }
        return annotated.isEmpty() ? otherwise : DurationStyle.detectAndParse(annotated);
    }
}
