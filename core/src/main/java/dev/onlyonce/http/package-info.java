@NullMarked
package dev.onlyonce.http;

import org.jspecify.annotations.NullMarked;
