package dev.onlyonce.client;

import java.net.URI;
import java.util.Locale;

/**
 * Scheme, host and port: credentials belong to one.
 *
 * @param scheme in lower case
 * @param host in lower case
 * @param port also where the URL does not name it
 */
record Origin(String scheme, String host, int port) {
    private static final int HTTP_PORT = 80;
    private static final int HTTPS_PORT = 443;

    static Origin of(URI uri) {
        if (uri.getScheme() == null || uri.getHost() == null) {
            throw new IllegalArgumentException(
                    "\"" + uri + "\" has no scheme or no host; write for example https://api.example.com");
        }
        String scheme = uri.getScheme().toLowerCase(Locale.ROOT);
        int usual = scheme.equals("https") ? HTTPS_PORT : HTTP_PORT;
        return new Origin(scheme, uri.getHost().toLowerCase(Locale.ROOT), uri.getPort() < 0 ? usual : uri.getPort());
    }

    @Override
    public String toString() {
        return scheme + "://" + host + ":" + port;
    }
}
