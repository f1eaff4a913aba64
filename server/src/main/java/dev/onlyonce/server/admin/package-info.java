/**
 * What operators can do: {@link dev.onlyonce.server.admin.AdminOperator} in one interface, on a store or on a running gateway,
 * and the admin API that offers it over HTTP.
 */
@NullMarked
package dev.onlyonce.server.admin;

import org.jspecify.annotations.NullMarked;
