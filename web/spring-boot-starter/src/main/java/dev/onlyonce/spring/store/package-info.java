/** The store and the engine of an application. Applications may name {@link dev.onlyonce.spring.store.OnlyonceAutoConfiguration}. */
@NullMarked
package dev.onlyonce.spring.store;

import org.jspecify.annotations.NullMarked;
