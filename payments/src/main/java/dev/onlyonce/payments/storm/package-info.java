@NullMarked
package dev.onlyonce.payments.storm;

import org.jspecify.annotations.NullMarked;
