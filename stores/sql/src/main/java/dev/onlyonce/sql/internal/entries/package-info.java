/**
 * Entries and dialects: one class for each kind of database with all its statements, and what reads, writes, sweeps, seals and
 * audits entries through them.
 */
@NullMarked
package dev.onlyonce.sql.internal.entries;

import org.jspecify.annotations.NullMarked;
