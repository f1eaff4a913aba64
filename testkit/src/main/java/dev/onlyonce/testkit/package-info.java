@NullMarked
package dev.onlyonce.testkit;

import org.jspecify.annotations.NullMarked;
