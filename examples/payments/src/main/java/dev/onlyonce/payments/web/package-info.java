/** The HTTP side: controllers with one annotation each, API keys, and problem details for refusals. */
@NullMarked
package dev.onlyonce.payments.web;

import org.jspecify.annotations.NullMarked;
