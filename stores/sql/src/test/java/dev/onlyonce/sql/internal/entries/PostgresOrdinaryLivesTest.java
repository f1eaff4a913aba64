package dev.onlyonce.sql.internal.entries;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.Claims;
import dev.onlyonce.sql.TestDatabase;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.State;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Ordinary lives in PostgreSQL")
final class PostgresOrdinaryLivesTest extends OrdinaryLivesListing {
    PostgresOrdinaryLivesTest() {
        super(TestDatabase.POSTGRES);
    }

    @Test
    @DisplayName("S2 the query on the page about SQL shows what became of a key, from rows and from its entry")
    void pageQuery() throws Exception {
        for (State to : List.of(State.RETRYABLE, State.COMPLETED)) {
            ClaimRequest claim = new ClaimRequest(
                    new EntryId("acme", "", "order-1"),
                    "POST /payments",
                    Fingerprint.of(new byte[0]),
                    UUID.randomUUID(),
                    "node",
                    Claims.TERMS,
                    State.PROCESSING);
            store().claim(List.of(claim));
            store().settle(List.of(Claims.settle(claim, to)));
        }
        String page = Files.readString(Path.of(System.getProperty("onlyonce.root"), "docs/reference/sql.md"));
        int begin = page.indexOf("-- PostgreSQL: what became of a key");
        List<String> records = new ArrayList<>();
        try (Connection connection = dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(page.substring(begin, page.indexOf("```", begin)))) {
            while (row.next()) {
                records.add(row.getInt(2) + " " + row.getInt(3) + ">" + row.getInt(4) + " " + row.getString(5));
            }
        }
        assertThat(records).containsExactly("1 2>5 node", "2 5>2 node", "2 2>3 node");
    }
}
