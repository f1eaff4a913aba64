package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("An entry that somebody has damaged")
final class DamagedEntriesTest {
    @TempDir
    private Path folder;

    private static void damage(HikariDataSource database, TestDatabase kind, EntryId id) throws SQLException {
        String sql = "UPDATE onlyonce_entry SET fingerprint = ? WHERE"
                + TestDatabase.key(kind.kind(), id.tenant(), id.key());
        try (Connection connection = database.getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setBytes(1, new byte[] {1});
            assertThat(statement.executeUpdate()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("D11 O1 hides no other from operators and reconcilers: lists leave it out, and pages stay full")
    void listed(TestDatabase kind) throws Exception {
        try (HikariDataSource database = kind.create(folder);
                SqlStore store = SqlStore.open(database)) {
            List<ClaimRequest> claims = Claims.claims("node", 6);
            store.claim(claims);
            List<EntryId> ids = new ArrayList<>(
                    store.list(EntryQuery.all(10)).stream().map(Entry::id).toList());
            assertThat(ids).hasSize(6);
            damage(database, kind, ids.get(1));
            damage(database, kind, ids.get(2));
            damage(database, kind, ids.get(5));
            List<EntryId> left = List.of(ids.get(0), ids.get(3), ids.get(4));
            assertThat(store.list(EntryQuery.all(10))).extracting(Entry::id).containsExactlyElementsOf(left);
            assertThat(store.list(EntryQuery.all(2))).extracting(Entry::id).containsExactly(left.get(0), left.get(1));
            assertThat(store.list(EntryQuery.all(2).after(left.get(0))))
                    .extracting(Entry::id)
                    .containsExactly(left.get(1), left.get(2));
            assertThat(store.list(EntryQuery.all(1).after(ids.get(4)))).isEmpty();
        }
    }
}
