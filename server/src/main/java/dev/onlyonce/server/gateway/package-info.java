@NullMarked
package dev.onlyonce.server.gateway;

import org.jspecify.annotations.NullMarked;
