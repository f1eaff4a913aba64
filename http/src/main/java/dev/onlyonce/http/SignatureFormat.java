package dev.onlyonce.http;

import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** How signatures stand in their header. Stateless. */
interface SignatureFormat {
    /** While secrets are replaced there are two; nobody sends more than a few. */
    int SIGNATURES_MAX = 16;

    /**
     * What a header says.
     *
     * @param time the text of the time, if the header has one
     * @param signatures those of the kind that this format checks; others are left out
     */
    record Read(@Nullable String time, List<byte[]> signatures) {}

    /** Empty if the header does not have this format. */
    Optional<Read> read(String header);

    /** The header with these signatures. */
    String write(String time, List<byte[]> signatures);

    /** Whether the header has the time, too. */
    default boolean hasTime() {
        return false;
    }

    /** One signature, after a prefix. */
    static SignatureFormat plain(String prefix, HmacScheme.Encoding encoding) {
        return new SignatureFormat() {
            @Override
            public Optional<Read> read(String header) {
                return header.startsWith(prefix)
                        ? decode(encoding, header.substring(prefix.length()))
                                .map(signature -> new Read(null, List.of(signature)))
                        : Optional.empty();
            }

            @Override
            public String write(String time, List<byte[]> signatures) {
                return prefix + encode(encoding, signatures.get(0));
            }
        };
    }

    /** {@code t=<seconds>,v1=<hex>,v1=<hex>}; schemes other than {@code v1} are for others to check. */
    static SignatureFormat stripe() {
        return new SignatureFormat() {
            @Override
            public Optional<Read> read(String header) {
                String time = null;
                List<byte[]> signatures = new ArrayList<>();
                for (String part : header.split(",", -1)) {
                    int equals = part.indexOf('=');
                    String name = equals < 0 ? "" : part.substring(0, equals).strip();
                    String value = part.substring(equals + 1).strip();
                    if (name.isEmpty() || (name.equals("t") && time != null)) {
                        return Optional.empty();
                    } else if (name.equals("t")) {
                        time = value;
                    } else if (name.equals("v1") && !add(signatures, decode(HmacScheme.Encoding.HEX, value))) {
                        return Optional.empty();
                    }
                }
                return time == null ? Optional.empty() : Optional.of(new Read(time, signatures));
            }

            @Override
            public boolean hasTime() {
                return true;
            }

            @Override
            public String write(String time, List<byte[]> signatures) {
                return "t=" + time + ","
                        + signatures.stream()
                                .map(signature -> "v1=" + encode(HmacScheme.Encoding.HEX, signature))
                                .collect(Collectors.joining(","));
            }
        };
    }

    /** {@code v1,<Base64> v1,<Base64>}; versions other than {@code v1} are for others to check. */
    static SignatureFormat standard() {
        return new SignatureFormat() {
            @Override
            public Optional<Read> read(String header) {
                List<byte[]> signatures = new ArrayList<>();
                for (String part : header.split(" ", -1)) {
                    int comma = part.indexOf(',');
                    if (comma <= 0) {
                        return Optional.empty();
                    }
                    if (part.substring(0, comma).equals("v1")
                            && !add(signatures, decode(HmacScheme.Encoding.BASE64, part.substring(comma + 1)))) {
                        return Optional.empty();
                    }
                }
                return Optional.of(new Read(null, signatures));
            }

            @Override
            public String write(String time, List<byte[]> signatures) {
                return signatures.stream()
                        .map(signature -> "v1," + encode(HmacScheme.Encoding.BASE64, signature))
                        .collect(Collectors.joining(" "));
            }
        };
    }

    private static boolean add(List<byte[]> signatures, Optional<byte[]> signature) {
        return signature.isPresent() && signatures.size() < SIGNATURES_MAX && signatures.add(signature.get());
    }

    private static Optional<byte[]> decode(HmacScheme.Encoding encoding, String text) {
        try {
            return Optional.of(
                    encoding == HmacScheme.Encoding.HEX
                            ? HexFormat.of().parseHex(text)
                            : Base64.getDecoder().decode(text));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private static String encode(HmacScheme.Encoding encoding, byte[] signature) {
        return encoding == HmacScheme.Encoding.HEX
                ? HexFormat.of().formatHex(signature)
                : Base64.getEncoder().encodeToString(signature);
    }
}
