/**
 * Tests of Spring Boot applications that use the starter: {@link dev.onlyonce.spring.test.OnlyonceTest} keeps entries in memory and
 * gives the test the clock, {@link dev.onlyonce.spring.test.Retries} asserts what becomes of retries.
 */
@NullMarked
package dev.onlyonce.spring.test;

import org.jspecify.annotations.NullMarked;
