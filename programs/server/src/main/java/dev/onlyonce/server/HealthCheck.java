package dev.onlyonce.server;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URL;

/** Asks a gateway whether it is well, for containers, which have no other program to do so. It loads little, to end soon. */
public final class HealthCheck {
    private static final int PATIENCE_MILLIS = 2_000;

    private HealthCheck() {}

    /** Ends with 0 if the address, such as {@code http://127.0.0.1:8091/health/ready}, answers 200, else with 1. */
    public static void main(String[] arguments) {
        System.exit(arguments.length == 1 && isWell(arguments[0]) ? 0 : 1);
    }

    private static boolean isWell(String address) {
        try {
            URL url = URI.create(address).toURL();
            HttpURLConnection connection = (HttpURLConnection) url.openConnection();
            connection.setConnectTimeout(PATIENCE_MILLIS);
            connection.setReadTimeout(PATIENCE_MILLIS);
            return connection.getResponseCode() == HttpURLConnection.HTTP_OK;
        } catch (IOException | RuntimeException e) {
            System.err.println(address + ": " + e);
            return false;
        }
    }
}
