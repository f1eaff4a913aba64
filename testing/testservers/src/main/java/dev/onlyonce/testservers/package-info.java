@NullMarked
package dev.onlyonce.testservers;

import org.jspecify.annotations.NullMarked;
