/** Requests as raw bytes, for what no client library would send. */
@NullMarked
package dev.onlyonce.check.wire;

import org.jspecify.annotations.NullMarked;
