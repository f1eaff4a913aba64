/** The demo's page: pay, retry, let the provider fail, and see what its ledger says. */
@NullMarked
package dev.onlyonce.payments.demo;

import org.jspecify.annotations.NullMarked;
