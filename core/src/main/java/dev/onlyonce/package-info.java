@NullMarked
package dev.onlyonce;

import org.jspecify.annotations.NullMarked;
