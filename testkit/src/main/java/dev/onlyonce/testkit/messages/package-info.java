/** The contract of consumers: what every adapter of a broker does, checked with the real broker. */
@NullMarked
package dev.onlyonce.testkit.messages;

import org.jspecify.annotations.NullMarked;
