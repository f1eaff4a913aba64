package dev.onlyonce.check;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import java.net.URI;

/**
 * Where the API says how many effects it has had: a number, or the length of an array.
 *
 * @param url answers a GET with JSON
 * @param pointer to the number or array in it; empty for the whole document
 */
public record EffectCounter(URI url, JsonPointer pointer) {

    /** From {@code URL#/json/pointer}; throws {@link IllegalArgumentException} if it is not that. */
    public static EffectCounter parse(String text) {
        URI whole = Plan.http(text);
        String fragment = whole.getFragment() == null ? "" : whole.getFragment();
        int hash = text.indexOf('#');
        return new EffectCounter(
                Plan.http(hash < 0 ? text : text.substring(0, hash)),
                fragment.isEmpty() ? JsonPointer.empty() : JsonPointer.compile(fragment));
    }

    /** The number in an answer; throws {@link CannotCheck} if there is none. */
    long read(RoundTrip trip) throws CannotCheck {
        JsonNode json = trip.isSuccess() && trip.answer() != null
                ? Json.parse(trip.answer().body())
                : null;
        JsonNode found = json == null ? null : json.at(pointer);
        if (found != null && found.isIntegralNumber()) {
            return found.asLong();
        }
        if (found != null && found.isArray()) {
            return found.size();
        }
        throw new CannotCheck("The counter " + url + " answered " + trip.brief()
                + (json == null ? "" : ", without a number or an array at \"" + pointer + "\""));
    }
}
