/**
 * Says whether two requests are the same: a digest of the canonical request, with or without a secret. Whatever differs only
 * in form (the order of JSON members, the spelling of a number) has the same fingerprint.
 */
@NullMarked
package dev.onlyonce.fingerprint;

import org.jspecify.annotations.NullMarked;
