/** Journals: one in a file, one in a SQL database. */
@NullMarked
package dev.onlyonce.client.journal;

import org.jspecify.annotations.NullMarked;
