package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The parameters of one row, one after the other, in the order in which all statements have them. */
final class RowParameters implements Binding {
    private final Columns columns;
    private final Row row;

    private RowParameters(Columns columns, Row row) {
        this.columns = columns;
        this.row = row;
    }

    @FunctionalInterface
    private interface Row {
        void set(Setter setter) throws SQLException;
    }

    static Binding of(Columns columns, ClaimRequest claim) {
        return new RowParameters(
                columns,
                s -> s.id(claim.id())
                        .text(claim.operation())
                        .number(claim.fingerprint().version())
                        .bytes(claim.fingerprint().digest())
                        .token(claim.token())
                        .text(claim.owner())
                        .number(StoredEntry.micros(claim.terms().lease()))
                        .number(claim.terms().onLeaseLost().code())
                        .number(StoredEntry.micros(claim.terms().retention()))
                        .number(StoredEntry.micros(claim.terms().tombstone()))
                        .textOrNull(claim.fingerprint().target())
                        .state(claim.start()));
    }

    static Binding of(Columns columns, Settlement settlement) {
        return new RowParameters(
                columns,
                s -> s.id(settlement.id())
                        .token(settlement.token())
                        .state(settlement.to())
                        .bytes(settlement.result())
                        .text(settlement.reason()));
    }

    /** What identifies a claim, in one value. */
    static Binding tokenAndName(Settlement settlement) {
        EntryId id = settlement.id();
        byte[] name = (id.tenant() + '\0' + id.scope() + '\0' + id.key()).getBytes(StandardCharsets.UTF_8);
        UUID token = settlement.token();
        byte[] bytes = ByteBuffer.allocate(2 * Long.BYTES + name.length)
                .putLong(token.getMostSignificantBits())
                .putLong(token.getLeastSignificantBits())
                .put(name)
                .array();
        return new RowParameters(Columns.BYTES, s -> s.bytes(bytes));
    }

    /** What identifies a claim, one value for each column. */
    static Binding owner(Columns columns, EntryId id, UUID token) {
        return new RowParameters(columns, s -> s.id(id).token(token));
    }

    /** A result alone. */
    static Binding result(byte @Nullable [] result) {
        return new RowParameters(Columns.BYTES, s -> s.bytes(result));
    }

    static Binding of(Columns columns, Renewal renewal) {
        return new RowParameters(
                columns, s -> s.id(renewal.id()).token(renewal.token()).number(StoredEntry.micros(renewal.lease())));
    }

    static Binding of(Columns columns, EntryId id) {
        return new RowParameters(columns, s -> s.id(id));
    }

    @Override
    public int bind(PreparedStatement statement, int first) throws SQLException {
        Setter setter = new Setter(columns, statement, first);
        row.set(setter);
        return setter.next;
    }

    /** Sets one parameter after the other. */
    private static final class Setter {
        private final Columns columns;
        private final PreparedStatement statement;
        private int next;

        Setter(Columns columns, PreparedStatement statement, int first) {
            this.columns = columns;
            this.statement = statement;
            this.next = first;
        }

        Setter id(EntryId id) throws SQLException {
            return text(id.tenant()).text(id.scope()).text(id.key());
        }

        Setter text(String text) throws SQLException {
            columns.text(statement, next++, text);
            return this;
        }

        Setter textOrNull(@Nullable String text) throws SQLException {
            columns.textOrNull(statement, next++, text);
            return this;
        }

        Setter token(UUID token) throws SQLException {
            columns.token(statement, next++, token);
            return this;
        }

        Setter number(long number) throws SQLException {
            statement.setLong(next++, number);
            return this;
        }

        Setter state(State state) throws SQLException {
            return number(state.code());
        }

        @SuppressWarnings("NullAway") // JDBC takes null for NULL.
        Setter bytes(byte @Nullable [] bytes) throws SQLException {
            statement.setBytes(next++, bytes);
            return this;
        }
    }
}
