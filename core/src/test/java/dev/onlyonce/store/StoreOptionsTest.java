package dev.onlyonce.store;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("The URL of a store in a message")
class StoreOptionsTest {
    @ParameterizedTest
    @CsvSource(
            delimiterString = " -> ",
            value = {
                "redis://127.0.0.1:6379?timeout=2s -> redis://127.0.0.1:6379?timeout=2s",
                "redis://app:s3cret@db:6379 -> redis://***@db:6379",
                "redis://app:s3/c@r?e&t@db:6379 -> redis://***@db:6379",
                "jdbc:mysql://app:s3/cret@db/x?user=me@corp -> jdbc:mysql://***@db/x?user=me@corp",
                "jdbc:mysql://app:s3?cret@db/x?user=me@corp -> jdbc:mysql://***@db/x?user=me@corp",
                "jdbc:mysql://app:s3=cret@db/x -> jdbc:mysql://***@db/x",
                "jdbc:postgresql://db/x?user=me@corp&password=s3;c@ret&a=b -> jdbc:postgresql://db/x?user=me@corp&password=***&a=b",
                "jdbc:mysql://db/x?trustStorePassword=s3cret -> jdbc:mysql://db/x?trustStorePassword=***",
                "jdbc:h2:mem:x;PASSWORD=s3cret -> jdbc:h2:mem:x;PASSWORD=***",
                "secretAccessKey=s3cret -> secretAccessKey=***",
                "endpoint=http://a:s3cret@h -> endpoint=http://***@h",
                "cret@127.0.0.1:6379 -> ***@127.0.0.1:6379",
            })
    @DisplayName("has no secret, wherever it stands")
    void shown(String url, String shown) {
        assertThat(new StoreOptions(url, "user", "s3cret", null, true)).hasToString(shown);
    }
}
