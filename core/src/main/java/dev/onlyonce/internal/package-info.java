@NullMarked
package dev.onlyonce.internal;

import org.jspecify.annotations.NullMarked;
