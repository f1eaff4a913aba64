package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Settlement;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A batch as PostgreSQL takes it: one array for each column, all of the batch's length. */
public final class ArrayParameters<T> implements Binding {
    private final List<T> batch;
    private final List<String> types = new ArrayList<>();
    private final List<@Nullable Object[]> arrays = new ArrayList<>();

    public ArrayParameters(List<T> batch) {
        this.batch = batch;
    }

    /** The arrays of a claim: they are the same for all statements that claim. */
    public static ArrayParameters<ClaimRequest> of(List<ClaimRequest> claims) {
        return new ArrayParameters<>(claims)
                .ids(ClaimRequest::id)
                .texts(ClaimRequest::operation)
                .ints(c -> c.fingerprint().version())
                .bytes(c -> c.fingerprint().digest())
                .tokens(ClaimRequest::token)
                .texts(ClaimRequest::owner)
                .longs(c -> StoredEntry.micros(c.terms().lease()))
                .shorts(c -> c.terms().onLeaseLost().code())
                .longs(c -> StoredEntry.micros(c.terms().retention()))
                .longs(c -> StoredEntry.micros(c.terms().tombstone()))
                .texts(c -> c.fingerprint().target())
                .shorts(c -> c.start().code());
    }

    /** The arrays of settlements. */
    public static ArrayParameters<Settlement> ofSettlements(List<Settlement> settlements) {
        return new ArrayParameters<>(settlements)
                .ids(Settlement::id)
                .tokens(Settlement::token)
                .shorts(s -> s.to().code())
                .bytes(Settlement::result)
                .texts(Settlement::reason);
    }

    public ArrayParameters<T> ids(Function<T, EntryId> id) {
        return texts(t -> id.apply(t).tenant())
                .texts(t -> id.apply(t).scope())
                .texts(t -> id.apply(t).key());
    }

    public ArrayParameters<T> tokens(Function<T, ?> token) {
        return add("uuid", new Object[batch.size()], token);
    }

    public ArrayParameters<T> texts(Function<T, @Nullable String> text) {
        return add("text", new String[batch.size()], text);
    }

    public ArrayParameters<T> ints(Function<T, Integer> number) {
        return add("int4", new Integer[batch.size()], number);
    }

    public ArrayParameters<T> shorts(Function<T, Integer> number) {
        return add("int2", new Short[batch.size()], t -> number.apply(t).shortValue());
    }

    public ArrayParameters<T> longs(Function<T, Long> number) {
        return add("int8", new Long[batch.size()], number);
    }

    public ArrayParameters<T> bytes(Function<T, byte @Nullable []> bytes) {
        return add("bytea", new byte[batch.size()][], bytes);
    }

    private ArrayParameters<T> add(String type, @Nullable Object[] array, Function<T, ?> value) {
        for (int i = 0; i < array.length; i++) {
            array[i] = value.apply(batch.get(i));
        }
        types.add(type);
        arrays.add(array);
        return this;
    }

    @Override
    public int bind(PreparedStatement statement, int first) throws SQLException {
        int next = first;
        for (int i = 0; i < arrays.size(); i++) {
            statement.setArray(next++, statement.getConnection().createArrayOf(types.get(i), arrays.get(i)));
        }
        return next;
    }
}
