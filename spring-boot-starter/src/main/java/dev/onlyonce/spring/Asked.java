package dev.onlyonce.spring;

import dev.onlyonce.Key;
import dev.onlyonce.fingerprint.Fingerprint;

/** The key that a call asks for, and the fingerprint of its arguments. */
record Asked(Key key, Fingerprint fingerprint) {}
