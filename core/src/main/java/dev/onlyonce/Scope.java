package dev.onlyonce;

/** The namespace in which a key is unique. */
public enum Scope {
    /** One namespace per tenant: the same key on another operation is a mismatch. The default. */
    TENANT,
    /** One namespace per tenant and operation: the same key on another operation is another key. */
    OPERATION
}
