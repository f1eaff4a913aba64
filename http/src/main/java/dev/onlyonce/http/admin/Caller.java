package dev.onlyonce.http.admin;

/**
 * Who asks, and what they may see.
 *
 * @param who for the audit
 * @param role what they may do
 * @param wholeKeys whether keys are shown whole
 * @param payloads whether stored responses and the payloads of calls are shown
 */
public record Caller(String who, Role role, boolean wholeKeys, boolean payloads) {
    /** What somebody may do. */
    public enum Role {
        /** Looks at everything. */
        READER,
        /** Changes things, with a reason. */
        OPERATOR
    }

    /** Somebody at the machine or with the operators' credential, who may do and see everything. */
    public static Caller operator(String who) {
        return new Caller(who, Role.OPERATOR, true, true);
    }
}
