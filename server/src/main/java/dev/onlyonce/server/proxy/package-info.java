@NullMarked
package dev.onlyonce.server.proxy;

import org.jspecify.annotations.NullMarked;
