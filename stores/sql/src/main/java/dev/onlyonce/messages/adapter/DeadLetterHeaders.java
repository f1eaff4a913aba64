package dev.onlyonce.messages.adapter;

import dev.onlyonce.messages.PoisonMessage;
import java.util.LinkedHashMap;
import java.util.Map;

/** The headers that a message gets when it is given up. */
public final class DeadLetterHeaders {
    /** Before the name of each. */
    public static final String PREFIX = "onlyonce-dead-";

    /** Enough to recognise an error; the log has the rest. */
    private static final int TEXT_LENGTH_MAX = 500;

    private DeadLetterHeaders() {}

    /** Why, by whom and after how many tries; names with their prefix. */
    public static Map<String, String> of(PendingMessage<?> pending, PoisonMessage why, String group) {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put(PREFIX + "reason", why.reason().code());
        headers.put(PREFIX + "text", plain(String.valueOf(why.getMessage())));
        headers.put(PREFIX + "tries", String.valueOf(pending.tries()));
        headers.put(PREFIX + "group", plain(group));
        headers.put(PREFIX + "topic", plain(pending.message().topic()));
        return headers;
    }

    private static String plain(String text) {
        String plain = text.replaceAll("\\p{Cntrl}", " ");
        return plain.length() > TEXT_LENGTH_MAX ? plain.substring(0, TEXT_LENGTH_MAX) : plain;
    }
}
