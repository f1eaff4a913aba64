/** Entries in Redis or Valkey: one server, Sentinel or Cluster. */
@NullMarked
package dev.onlyonce.redis;

import org.jspecify.annotations.NullMarked;
