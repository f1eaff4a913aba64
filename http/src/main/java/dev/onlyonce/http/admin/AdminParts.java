package dev.onlyonce.http.admin;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.store.DeadLetterBox;
import dev.onlyonce.store.Store;
import org.jspecify.annotations.Nullable;

/**
 * What operators work on.
 *
 * @param store the store itself, behind any cache
 * @param outbox null if the store has none
 * @param tables null if the store has none
 * @param watch what this node remembers; null if nobody watched
 */
public record AdminParts(
        Onlyonce once,
        Store store,
        Program program,
        @Nullable DeadLetterBox outbox,
        @Nullable Tables tables,
        @Nullable NodeWatch watch) {

    boolean isReconciled(String operation) {
        return once.registry().isReconciled(operation);
    }
}
