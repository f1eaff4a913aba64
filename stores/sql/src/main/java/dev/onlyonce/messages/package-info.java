/** Messages that brokers deliver at least once: their ids, their handlers, when to try them again, and why they are given up. No broker is named here. */
@NullMarked
package dev.onlyonce.messages;

import org.jspecify.annotations.NullMarked;
