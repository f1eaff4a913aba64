/** The broker between payments and books. None of these classes is loaded unless a broker is configured. */
@NullMarked
package dev.onlyonce.payments.kafka;

import org.jspecify.annotations.NullMarked;
