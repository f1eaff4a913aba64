@NullMarked
package dev.onlyonce.payments;

import org.jspecify.annotations.NullMarked;
