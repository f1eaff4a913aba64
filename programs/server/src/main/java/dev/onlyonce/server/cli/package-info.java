/**
 * The command line: one class for each command. A command reads options, calls an operator or starts a gateway, and prints.
 */
@NullMarked
package dev.onlyonce.server.cli;

import org.jspecify.annotations.NullMarked;
