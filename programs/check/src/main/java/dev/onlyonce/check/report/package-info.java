/** A report as text, JSON, JUnit XML and HTML. */
@NullMarked
package dev.onlyonce.check.report;

import org.jspecify.annotations.NullMarked;
