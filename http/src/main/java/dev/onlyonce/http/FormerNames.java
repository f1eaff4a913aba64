package dev.onlyonce.http;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.store.Entry;
import java.util.Collection;

/** Finds the entries that an operation made under another name, so that renaming it does not refuse retries of older keys. */
public final class FormerNames {
    private FormerNames() {}

    /**
     * Returns the key with the operation name that its entry is stored under, if that is a former name of its operation; otherwise
     * the key itself. With the stored name everything about the entry, downstream keys too, stays as it was. Reads the store
     * unless there are no former names.
     *
     * @throws dev.onlyonce.store.StoreException if the store cannot answer
     */
    public static Key stored(Onlyonce once, Key key, Collection<String> formerly) {
        if (formerly.isEmpty()) {
            return key;
        }
        return once.find(key)
                .map(Entry::operation)
                .filter(formerly::contains)
                .map(name -> new Key(key.tenant(), name, key.value(), key.scope()))
                .orElse(key);
    }
}
