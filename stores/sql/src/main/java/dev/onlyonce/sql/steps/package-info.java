/** The stepped way to execute: several external effects in a row, each recorded, so that a retry resumes. */
@NullMarked
package dev.onlyonce.sql.steps;

import org.jspecify.annotations.NullMarked;
