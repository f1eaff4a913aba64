package dev.onlyonce.server.config;

import dev.onlyonce.Policy;
import dev.onlyonce.Scope;
import dev.onlyonce.http.KeyFormat;
import dev.onlyonce.http.OnServerError;
import dev.onlyonce.http.Operation;
import dev.onlyonce.http.Profile;
import dev.onlyonce.http.WhenRunning;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.Terms;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How operations are protected unless they say otherwise: the same settings stand in {@code defaults} and in each operation. */
final class Defaults {
    private static final int BODY_BYTES_MAX = 64 << 20;

    private final Profile profile;
    private final Policy policy;
    private final Scope scope;
    private final KeyFormat keyFormat;
    private final boolean refusePersonalKeys;
    private final int bodyBytesMax;
    private final List<String> fingerprintHeaders;
    private final List<String> ignoredMembers;

    private Defaults(Profile profile) {
        this.profile = profile;
        policy = Policy.standard();
        scope = Scope.TENANT;
        keyFormat = KeyFormat.any();
        refusePersonalKeys = false;
        bodyBytesMax = 1 << 20;
        fingerprintHeaders = List.of();
        ignoredMembers = List.of();
    }

    Defaults(Section section) {
        this(new Defaults(Profile.ietf()), section);
        section.end();
    }

    Defaults(Defaults above, @Nullable Section section) {
        if (section == null) {
            profile = above.profile;
            policy = above.policy;
            scope = above.scope;
            keyFormat = above.keyFormat;
            refusePersonalKeys = above.refusePersonalKeys;
            bodyBytesMax = above.bodyBytesMax;
            fingerprintHeaders = above.fingerprintHeaders;
            ignoredMembers = above.ignoredMembers;
            return;
        }
        profile = profile(section, above.profile);
        policy = policy(section, above.policy);
        scope = section.constant("scope", Scope.class, above.scope);
        keyFormat = section.as("key-format", Defaults::keyFormat, above.keyFormat);
        refusePersonalKeys = section.flag("refuse-personal-keys", above.refusePersonalKeys);
        bodyBytesMax = section.bytes("body-bytes-max", above.bodyBytesMax, 1, BODY_BYTES_MAX);
        fingerprintHeaders =
                section.has("fingerprint-headers") ? section.texts("fingerprint-headers") : above.fingerprintHeaders;
        ignoredMembers = section.has("ignored-members") ? pointers(section) : above.ignoredMembers;
    }

    private static Profile profile(Section section, Profile above) {
        Profile profile = section.as("profile", Profile::of, above);
        return profile.toBuilder()
                .keyRequired(section.flag("key-required", profile.keyRequired()))
                .onServerError(section.constant("on-server-error", OnServerError.class, profile.onServerError()))
                .whenRunning(section.constant("when-running", WhenRunning.class, profile.whenRunning()))
                .build();
    }

    private static Policy policy(Section section, Policy above) {
        Terms terms = above.terms();
        Duration lease = section.duration("lease", terms.lease(), Terms.LEASE_MIN, Terms.LEASE_MAX);
        Duration held = above.heldMax().compareTo(lease) < 0 ? lease : above.heldMax();
        return above.toBuilder()
                .lease(lease)
                .heldMax(section.duration("held-max", held, lease, Policy.HELD_MAX))
                .callMax(section.duration("call-max", above.callMax(), Duration.ZERO, Policy.HELD_MAX))
                .retention(section.duration("retention", terms.retention(), Duration.ZERO, Terms.RETENTION_MAX))
                .tombstone(section.duration("tombstone", terms.tombstone(), Duration.ZERO, Terms.RETENTION_MAX))
                .onLeaseLost(section.as("on-lease-lost", Defaults::onLeaseLost, terms.onLeaseLost()))
                .waitMax(section.duration("wait-max", above.waitMax(), Duration.ZERO, Policy.WAIT_MAX))
                .resultBytesMax(section.bytes("result-bytes-max", above.resultBytesMax(), 0, Policy.RESULT_BYTES_MAX))
                .build();
    }

    Duration callMax() {
        return policy.callMax();
    }

    private static OnLeaseLost onLeaseLost(String text) {
        OnLeaseLost policy = Section.constant(OnLeaseLost.class, text);
        if (policy == OnLeaseLost.RESUME) {
            throw new IllegalArgumentException("a gateway knows no steps to resume from; write unknown or retry");
        }
        return policy;
    }

    private static KeyFormat keyFormat(String text) {
        if (text.equals("any")) {
            return KeyFormat.any();
        }
        if (text.equals("uuid")) {
            return KeyFormat.uuid();
        }
        try {
            return KeyFormat.lengthMin(Integer.parseInt(text));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "\"" + text + "\" is not a key format; write any, uuid or the least number of characters", e);
        }
    }

    private static List<String> pointers(Section section) {
        List<String> pointers = new ArrayList<>();
        for (String pointer : section.texts("ignored-members")) {
            if (pointer.startsWith("/")) {
                pointers.add(pointer);
            } else {
                section.wrong(
                        "ignored-members", "\"" + pointer + "\" is not a JSON pointer; write for example /meta/sent");
            }
        }
        return pointers;
    }

    /** How long keys are answered. */
    Duration retention() {
        return policy.terms().retention();
    }

    Operation.Builder apply(Operation.Builder operation) {
        return operation
                .profile(profile)
                .policy(policy)
                .scope(scope)
                .keyFormat(keyFormat)
                .refusePersonalKeys(refusePersonalKeys)
                .bodyBytesMax(bodyBytesMax)
                .fingerprintHeaders(fingerprintHeaders)
                .ignoredMembers(ignoredMembers);
    }
}
