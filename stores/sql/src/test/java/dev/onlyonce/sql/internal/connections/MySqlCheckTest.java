package dev.onlyonce.sql.internal.connections;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.store.StoreRejected;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("The settings of MySQL and MariaDB")
final class MySqlCheckTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:mariadb:loadbalance://db1:3306,db2:3306/shop",
                "jdbc:mariadb:sequential://db1,db2/shop",
                "jdbc:mariadb://address=(host=db1)(port=3306),address=(host=db2)/shop",
                "jdbc:mysql://db1:3306,db2:3306/shop",
                "jdbc:mysql:loadbalance://db1,db2/shop",
                "jdbc:mariadb:loadbalance://cluster/shop"
            })
    @DisplayName(
            "E2 a URL that leads to several nodes of a Galera cluster is refused, unless its reads wait for the others' commits")
    void severalNodes(String url) {
        assertThatThrownBy(() -> MySqlCheck.checkGalera(url, 0))
                .isInstanceOf(StoreRejected.class)
                .hasMessageContaining("wsrep_sync_wait=7");
        assertThatThrownBy(() -> MySqlCheck.checkGalera(url, 1)).isInstanceOf(StoreRejected.class);
        assertThatCode(() -> MySqlCheck.checkGalera(url, 7)).doesNotThrowAnyException();
        assertThatCode(() -> MySqlCheck.checkGalera(url, 15)).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @CsvSource({"jdbc:mariadb://db1:3306/shop, 0", "jdbc:mysql://db1/shop, 1"})
    @DisplayName("E2 a URL of one node of a Galera cluster is taken")
    void oneNode(String url, int waits) {
        assertThatCode(() -> MySqlCheck.checkGalera(url, waits)).doesNotThrowAnyException();
    }
}
