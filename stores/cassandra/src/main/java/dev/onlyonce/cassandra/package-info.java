/** Entries in Apache Cassandra. {@link dev.onlyonce.cassandra.CassandraStore} is where to start. */
@NullMarked
package dev.onlyonce.cassandra;

import org.jspecify.annotations.NullMarked;
