/**
 * Entries in PostgreSQL, MySQL, MariaDB, SQLite or H2. {@link dev.onlyonce.sql.SqlStore} is what applications open; the ways to
 * execute that need a database are in the packages {@code transactions}, {@code outbox}, {@code steps} and {@code inbox}, and
 * the tables in {@code schema}. The packages {@code entries} and {@code connections} are for this module only.
 */
@NullMarked
package dev.onlyonce.sql;

import org.jspecify.annotations.NullMarked;
