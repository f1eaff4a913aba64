package dev.onlyonce.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("The URL of a SQL database")
class JdbcUrlTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:postgresql:onlyonce",
                "jdbc:postgresql://db/",
                "jdbc:postgresql://db1:5432,db2:5432/onlyonce?user=me@corp&password=p@?/&targetServerType=primary",
                "jdbc:postgresql://[::1]:5432/onlyonce?sslmode=verify-full&sslrootcert=/etc/ssl/db-ca.pem&ApplicationName=x",
                "jdbc:mysql://db:3306/onlyonce?user=app&sslMode=verify-full&serverSslCert=/etc/ssl/db-ca.pem",
                "jdbc:mysql://db/onlyonce?useSSL=true&trustCertificateKeyStoreUrl=file:/x&sslmode=VERIFY_IDENTITY",
                "jdbc:mariadb:loadbalance://db1:3306,db2:3306/shop?allowPublicKeyRetrieval=true",
                "jdbc:mariadb:replication://address=(host=db1)(port=3306)(type=primary)/shop",
                "jdbc:sqlite:onlyonce.db",
                "jdbc:sqlite:/var/lib/only once/@.db"
            })
    @DisplayName("is used as its driver understands it")
    void right(String url) {
        assertThat(ConfigFile.storeUrl(url)).isEqualTo(url);
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = " -> ",
            value = {
                "jdbc:postgresql://db/x?sslMode=verify-full&password=s3cret -> PostgreSQL has no setting sslMode",
                "jdbc:postgresql://db/x?sslmod=verify-full&bogus=s3cret -> no setting sslmod, bogus",
                "jdbc:mysql://db/x?password=s3cret&requireSSL=true -> MariaDB Connector/J) has no setting requireSSL",
                "jdbc:mysql://db/x?password=s3cret&usessl=true -> MariaDB Connector/J) has no setting usessl",
                "jdbc:mysql://db/x?password=s3cret&useSSL=TRUE -> MariaDB Connector/J) has no setting useSSL",
                "jdbc:postgresql://db/x?user=app&password=p&s3cret -> may be a part of the password",
                "jdbc:mariadb://db/x?password=s3cret&sslMode=always -> setting in the URL of the database is wrong: error parsing url",
                "jdbc:mysql://app:s3cret@db/x -> jdbc:mysql://host:port/database?user=name",
                "jdbc:mariadb://app:s3/cret@db/x -> jdbc:mariadb://host:port/database?user=name",
                "jdbc:postgresql://app:s3cret?@db/x -> jdbc:postgresql://host:port/database?user=name",
                "jdbc:postgresql:app:s3cret@db/x -> jdbc:postgresql://host:port/database?user=name",
                "jdbc:mysql:db?password=s3cret -> jdbc:mysql://host:port/database?user=name",
                "jdbc:postgresql://db:99999/x?password=s3cret -> jdbc:postgresql://host:port/database?user=name",
                "jdbc:sqlite:onlyonce.db?synchronous=OFF -> without settings",
                "jdbc:sqlite::memory: -> the name of a file",
                "jdbc:sqlite: -> the name of a file",
                "jdbc:sqlite:file:onlyonce.db -> the name of a file",
                "mysql://app:s3/cret@db/x?password=s3cret -> \"mysql://***@db/x?password=***\" is not the URL",
            })
    @DisplayName("E2 with a mistake is refused with what to write, and without its password")
    void wrong(String url, String message) {
        assertThatThrownBy(() -> ConfigFile.storeUrl(url))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message)
                .hasMessageNotContaining("s3")
                .hasStackTraceContaining(message)
                .satisfies(
                        e -> assertThat(e.getCause() == null ? "" : e.getCause().toString())
                                .doesNotContain("s3"));
    }
}
