@NullMarked
package dev.onlyonce.payments.faults;

import org.jspecify.annotations.NullMarked;
