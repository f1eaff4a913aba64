@NullMarked
package dev.onlyonce.server.observe;

import org.jspecify.annotations.NullMarked;
