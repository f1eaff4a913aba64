@NullMarked
package dev.onlyonce.payments.domain;

import org.jspecify.annotations.NullMarked;
