/**
 * The filter that protects operations in a servlet container. {@link dev.onlyonce.servlet.OnlyonceFilter} decides with the
 * boundary; what runs is followed until its answer is recorded.
 */
@NullMarked
package dev.onlyonce.servlet;

import org.jspecify.annotations.NullMarked;
