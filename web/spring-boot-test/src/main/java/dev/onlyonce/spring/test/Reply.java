package dev.onlyonce.spring.test;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.servlet.MvcResult;
import org.springframework.test.web.servlet.ResultActions;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

/**
 * What a client got, however the test sent the request.
 *
 * @param headers all header lines, by name
 * @param body the bytes
 */
public record Reply(int status, Map<String, List<String>> headers, byte[] body) {

    /** Of a request that {@code MockMvc} performed. For asynchronous handlers, use {@code MockMvcTester}, which waits. */
    public static Reply of(ResultActions performed) {
        return of(performed.andReturn());
    }

    /** Of a request that {@code MockMvcTester} exchanged. */
    public static Reply of(MvcTestResult exchanged) {
        return of(exchanged.getMvcResult());
    }

    private static Reply of(MvcResult result) {
        if (result.getRequest().isAsyncStarted()) {
            throw new IllegalArgumentException(
                    "The handler is asynchronous and has not answered yet. Send the request with exchange() of a MockMvcTester, which"
                            + " waits for the answer; or dispatch it: mvc.perform(asyncDispatch(…))");
        }
        MockHttpServletResponse response = result.getResponse();
        Map<String, List<String>> headers = new TreeMap<>();
        response.getHeaderNames().forEach(name -> headers.put(name, response.getHeaders(name)));
        return new Reply(response.getStatus(), headers, response.getContentAsByteArray());
    }

    /** The first line of a header. */
    public Optional<String> header(String name) {
        return headers.entrySet().stream()
                .filter(header -> header.getKey().toLowerCase(Locale.ROOT).equals(name.toLowerCase(Locale.ROOT)))
                .flatMap(header -> header.getValue().stream())
                .findFirst();
    }

    /** Whether it is the recorded answer of an earlier request. */
    public boolean isReplay() {
        return header("Idempotent-Replayed").isPresent();
    }

    /** The body as text. */
    public String text() {
        return new String(body, StandardCharsets.UTF_8);
    }

    /** For messages of assertions. */
    @Override
    public String toString() {
        return status + (isReplay() ? " (replayed) " : " ") + text();
    }
}
