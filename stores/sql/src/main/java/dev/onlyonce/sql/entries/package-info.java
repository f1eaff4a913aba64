/**
 * Entries and dialects: one class for each kind of database with all its statements, and what reads, writes, sweeps, seals and
 * audits entries through them. For this module only.
 */
@NullMarked
package dev.onlyonce.sql.entries;

import org.jspecify.annotations.NullMarked;
