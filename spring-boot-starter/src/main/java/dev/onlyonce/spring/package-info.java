@NullMarked
package dev.onlyonce.spring;

import org.jspecify.annotations.NullMarked;
