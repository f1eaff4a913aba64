/** What the modules of brokers share: how delivered messages are applied, tried again and given up. Not for applications. */
@NullMarked
package dev.onlyonce.messages.adapter;

import org.jspecify.annotations.NullMarked;
