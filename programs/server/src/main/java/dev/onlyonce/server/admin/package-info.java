/** How operators reach a program: the listener of the gateway, the credentials, and the client of the command line. */
@NullMarked
package dev.onlyonce.server.admin;

import org.jspecify.annotations.NullMarked;
