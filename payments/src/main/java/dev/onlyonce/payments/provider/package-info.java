@NullMarked
package dev.onlyonce.payments.provider;

import org.jspecify.annotations.NullMarked;
