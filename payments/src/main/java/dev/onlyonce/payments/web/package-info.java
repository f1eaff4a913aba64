@NullMarked
package dev.onlyonce.payments.web;

import org.jspecify.annotations.NullMarked;
