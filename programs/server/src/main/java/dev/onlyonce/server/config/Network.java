package dev.onlyonce.server.config;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A range of IP addresses, as {@code 10.0.0.0/8}, {@code ::1/128} or a single address. */
public final class Network {
    private static final Pattern NUMERIC = Pattern.compile("[0-9.]+|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*");

    private final byte[] address;
    private final int bits;

    private Network(byte[] address, int bits) {
        this.address = address;
        this.bits = bits;
    }

    /** Throws {@link IllegalArgumentException} unless the text is a range of addresses. */
    public static Network parse(String text) {
        int slash = text.indexOf('/');
        String host = slash < 0 ? text : text.substring(0, slash);
        // Names are refused: what they resolve to changes, and looking them up blocks.
        if (!NUMERIC.matcher(host).matches()) {
            throw new IllegalArgumentException("not an address or a range like 10.0.0.0/8: " + text);
        }
        try {
            byte[] address = InetAddress.getByName(host).getAddress();
            int bits = slash < 0 ? address.length * 8 : Integer.parseInt(text.substring(slash + 1));
            if (bits < 0 || bits > address.length * 8) {
                throw new IllegalArgumentException("the prefix length is out of range: " + text);
            }
            return new Network(address, bits);
        } catch (UnknownHostException | NumberFormatException e) {
            throw new IllegalArgumentException("not an address or a range like 10.0.0.0/8: " + text, e);
        }
    }

    /** Whether a numeric address lies in the range. */
    public boolean contains(String numericAddress) {
        if (!NUMERIC.matcher(numericAddress).matches()) {
            return false;
        }
        try {
            return contains(InetAddress.getByName(numericAddress).getAddress());
        } catch (UnknownHostException e) {
            return false;
        }
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Network network && bits == network.bits && Arrays.equals(address, network.address);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(address) + bits;
    }

    private boolean contains(byte[] other) {
        if (other.length != address.length) {
            return false;
        }
        int whole = bits / 8;
        for (int i = 0; i < whole; i++) {
            if (address[i] != other[i]) {
                return false;
            }
        }
        int rest = bits % 8;
        return rest == 0 || ((address[whole] ^ other[whole]) & 0xff) >> (8 - rest) == 0;
    }
}
