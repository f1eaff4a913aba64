package dev.onlyonce.testkit;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.Store;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** Takes different ids for one. */
final class RenamingStore extends Mutated {
    private final UnaryOperator<EntryId> rename;

    RenamingStore(Store store, UnaryOperator<EntryId> rename) {
        super(store);
        this.rename = rename;
    }

    @Override
    ClaimRequest change(ClaimRequest r) {
        return new ClaimRequest(
                rename.apply(r.id()), r.operation(), r.fingerprint(), r.token(), r.owner(), r.terms(), r.start());
    }

    @Override
    Settlement change(Settlement s) {
        return new Settlement(rename.apply(s.id()), s.token(), s.to(), s.result(), s.reason());
    }

    @Override
    public List<Optional<Entry>> find(List<EntryId> ids) {
        return super.find(ids.stream().map(rename).toList());
    }
}
