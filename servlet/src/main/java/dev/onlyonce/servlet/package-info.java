@NullMarked
package dev.onlyonce.servlet;

import org.jspecify.annotations.NullMarked;
