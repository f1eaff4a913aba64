package dev.onlyonce.fingerprint;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.fingerprint.MalformedRequest.Reason;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("A JSON number")
class JsonNumberTest {

    @Test
    @DisplayName("is spelled as RFC 8785 appendix B says, as a double and exactly")
    void appendixB() {
        for (String line : Vectors.lines("rfc8785/numbers.csv")) {
            String[] vector = line.split(",", -1);
            double value = Double.longBitsToDouble(Long.parseUnsignedLong(vector[0], 16));
            assertThat(asDouble(Double.toString(value))).as(line).isEqualTo(vector[1]);
            assertThat(exact(vector[1])).as(line).isEqualTo(vector[1]);
        }
    }

    @ParameterizedTest
    @DisplayName("is spelled as in the published ES6 test file, by the SHA-256 of its first lines")
    @CsvSource({
        "1000,be18b62b6f69cdab33a7e0dae0d9cfa869fda80ddc712221570f9f40a5878687",
        "10000,b9f7a8e75ef22a835685a52ccba7f7d6bdc99e34b010992cbc5864cd12be6892"
    })
    void es6TestFile(int lines, String sum) throws Exception {
        MessageDigest file = MessageDigest.getInstance("SHA-256");
        Es6Doubles doubles = new Es6Doubles();
        for (int i = 0; i < lines; i++) {
            double value = doubles.next();
            String spelling = asDouble(new BigDecimal(value).toString());
            String line = Long.toHexString(Double.doubleToRawLongBits(value)) + "," + spelling + "\n";
            file.update(line.getBytes(US_ASCII));
            assertThat(exact(spelling)).isEqualTo(spelling);
        }
        assertThat(HexFormat.of().formatHex(file.digest())).isEqualTo(sum);
    }

    @ParameterizedTest
    @DisplayName("is shortest also at a power of two, where the nearest decimal may round to the double below")
    @CsvSource({
        "-1074, 5e-324",
        "-1022, 2.2250738585072014e-308",
        "-44, 5.684341886080802e-14",
        "481, 6.243497100631985e+144",
        "710, 5.386379163185535e+213",
        "976, 6.386688990511104e+293",
        "1023, 8.98846567431158e+307"
    })
    void powersOfTwo(int exponent, String spelling) {
        assertThat(asDouble(new BigDecimal(Math.scalb(1.0, exponent)).toString()))
                .isEqualTo(spelling);
    }

    @ParameterizedTest
    @DisplayName("F2 has one spelling, however it was written")
    @CsvSource({
        "1, 1",
        "1.0, 1",
        "1e0, 1",
        "10E-1, 1",
        "0.1e1, 1",
        "-0, 0",
        "-0.0e7, 0",
        "0e99999999999999999999, 0",
        "0.1000, 0.1",
        "100e-3, 0.1",
        "-12.50, -12.5",
        "1e21, 1e+21",
        "1e20, 100000000000000000000",
        "123456789012345678901, 123456789012345678901",
        "-123456789012345678901, -123456789012345678901",
        "1234567890123456789012, 1.234567890123456789012e+21",
        "0.000001, 0.000001",
        "0.0000001, 1e-7",
        "123e-20, 1.23e-18",
        "12300e+18, 1.23e+22",
        "1e9999, 1e+9999",
        "1e-9999, 1e-9999",
        "0.00001e10004, 1e+9999"
    })
    void oneSpelling(String text, String canonical) {
        assertThat(exact(text)).isEqualTo(canonical);
    }

    @ParameterizedTest
    @DisplayName("F2 keeps what a double cannot hold")
    @ValueSource(
            strings = {
                "9007199254740993",
                "333333333.33333329",
                "0.1000000000000000055511151231257827021181583404541015625",
                "1e+400",
                "1e-400",
                "4.9e-324",
                "1.7976931348623157081e+308"
            })
    void exactValue(String text) {
        assertThat(exact(text)).isEqualTo(text);
    }

    @Test
    @DisplayName("F2 of two random numbers has the same spelling exactly if their values are equal")
    void sameSpellingIfEqual() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 20_000; i++) {
            BigDecimal value = randomDecimal(random);
            String spelling = exact(respell(value, random));
            assertThat(new BigDecimal(spelling)).as("seed %d", seed).isEqualByComparingTo(value);
            assertThat(exact(spelling)).as("seed %d", seed).isEqualTo(spelling);
            assertThat(exact(respell(value, random))).as("seed %d", seed).isEqualTo(spelling);
            BigDecimal neighbour = value.add(BigDecimal.ONE.movePointLeft(value.scale()));
            assertThat(exact(respell(neighbour, random))).as("seed %d", seed).isNotEqualTo(spelling);
        }
    }

    @Test
    @DisplayName("F3 with more than 1,000 characters is refused")
    void tooLong() {
        assertThat(refused("1".repeat(1000))).isNull();
        assertThat(refused("1".repeat(1001))).isEqualTo(Reason.NUMBER_TOO_LONG);
        assertThat(refused("0." + "0".repeat(999))).isEqualTo(Reason.NUMBER_TOO_LONG);
    }

    @ParameterizedTest
    @DisplayName("F3 with an exponent beyond 9,999 is refused")
    @ValueSource(
            strings = {
                "1e10000",
                "1e-10000",
                "10e9999",
                "0.1e-9999",
                "1e1000000000",
                "-1e-1000000000",
                "1E+99999999999999999999999999999999999999"
            })
    void exponentTooLarge(String text) {
        assertThat(refused(text)).isEqualTo(Reason.EXPONENT_TOO_LARGE);
    }

    private static BigDecimal randomDecimal(Random random) {
        BigInteger digits = new BigInteger(random.nextInt(200), random);
        return new BigDecimal(random.nextBoolean() ? digits : digits.negate(), random.nextInt(80) - 40);
    }

    /** The same value with other digits before the point, other zeros and another exponent. */
    private static String respell(BigDecimal value, Random random) {
        int exponent = random.nextInt(60) - 30;
        String plain = value.movePointLeft(exponent).toPlainString();
        String zeros = "0".repeat(random.nextInt(4));
        String digits = plain.contains(".") ? plain + zeros : random.nextBoolean() ? plain : plain + ".0" + zeros;
        String sign = exponent < 0 ? "" : random.nextBoolean() ? "+" : "";
        return exponent == 0 ? digits : digits + (random.nextBoolean() ? "e" : "E") + sign + exponent;
    }

    private static String exact(String text) {
        ByteBuilder out = new ByteBuilder(16);
        boolean integer = text.chars().allMatch(c -> c == '-' || Character.isDigit(c));
        Reason refused = integer
                ? JsonNumber.appendInteger(text.toCharArray(), 0, text.length(), out)
                : JsonNumber.appendExact(text.toCharArray(), 0, text.length(), out);
        assertThat(refused).isNull();
        return new String(out.toByteArray(), US_ASCII);
    }

    private static Reason refused(String text) {
        return JsonNumber.appendExact(text.toCharArray(), 0, text.length(), new ByteBuilder(16));
    }

    private static String asDouble(String text) {
        return exact(Doubles.round(text));
    }

    /** The numbers of the ES6 test file: some chosen ones, 2,000 smallest normal ones, then a chain of SHA-256. */
    private static final class Es6Doubles {
        private static final long SMALLEST_NORMAL = 0x0010000000000000L;
        private static final int SERIES = 2_000;

        private final List<String> first = Vectors.lines("rfc8785/es6-first.txt");
        private byte[] block = new byte[32];
        private ByteBuffer rest = ByteBuffer.allocate(0);
        private int index;

        double next() throws Exception {
            int i = index++;
            if (i < first.size()) {
                return Double.longBitsToDouble(Long.parseUnsignedLong(first.get(i), 16));
            }
            if (i < first.size() + SERIES) {
                return Double.longBitsToDouble(SMALLEST_NORMAL + i - first.size());
            }
            double value = 0;
            while (value == 0 || !Double.isFinite(value)) {
                if (!rest.hasRemaining()) {
                    block = MessageDigest.getInstance("SHA-256").digest(block);
                    rest = ByteBuffer.wrap(block).order(ByteOrder.LITTLE_ENDIAN);
                }
                value = rest.getDouble();
            }
            return value;
        }
    }
}
