/**
 * The operators' interface, without a transport: requests and answers are values, so that the gateway, servlet containers and Spring
 * mount the same one. {@link dev.onlyonce.http.admin.AdminAction} is the table of what an operator can do, {@link
 * dev.onlyonce.http.admin.AdminOperator} does it, {@link dev.onlyonce.http.admin.AdminHandler} answers requests, and {@link
 * dev.onlyonce.http.admin.Access} decides who may ask.
 */
@NullMarked
package dev.onlyonce.http.admin;

import org.jspecify.annotations.NullMarked;
