package dev.onlyonce.spring.conformance;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.concurrent.TimeUnit;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PatchMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.bind.annotation.RequestParam;

/** The handlers that the conformance suite asks for; each prefix is a controller that inherits them. */
abstract class Handlers {
    @Autowired
    private Effects effects;

    @PostMapping("/echo")
    ResponseEntity<byte[]> echo(@RequestHeader("X-Effect") String effect, @RequestBody(required = false) byte[] body) {
        return answer(effect, body);
    }

    @PatchMapping("/echo")
    ResponseEntity<byte[]> patched(
            @RequestHeader("X-Effect") String effect, @RequestBody(required = false) byte[] body) {
        return answer(effect, body);
    }

    @PostMapping("/other")
    ResponseEntity<byte[]> other(@RequestHeader("X-Effect") String effect, @RequestBody(required = false) byte[] body) {
        return answer(effect, body);
    }

    @RequestMapping(
            path = "/echo",
            method = {RequestMethod.GET, RequestMethod.PUT, RequestMethod.DELETE})
    ResponseEntity<byte[]> unprotected(
            @RequestHeader("X-Effect") String effect, @RequestBody(required = false) byte[] body) {
        return answer(effect, body);
    }

    private ResponseEntity<byte[]> answer(String effect, byte[] body) {
        String received = Base64.getEncoder().encodeToString(body == null ? new byte[0] : body);
        HttpHeaders headers = new HttpHeaders();
        headers.add("Location", "/things/1");
        headers.add("X-Several", "one");
        headers.add("X-Several", "two");
        headers.add("Set-Cookie", "session=secret");
        headers.add("traceparent", "00-1");
        headers.add("Content-Type", "application/json");
        String json = "{\"run\":" + effects.count(effect) + ",\"received\":\"" + received + "\"}";
        return ResponseEntity.status(201).headers(headers).body(json.getBytes(StandardCharsets.UTF_8));
    }

    @PostMapping("/form")
    ResponseEntity<String> form(
            @RequestHeader("X-Effect") String effect, @RequestParam String a, @RequestParam String b) {
        effects.count(effect);
        return ResponseEntity.ok()
                .header("Content-Type", "text/plain;charset=UTF-8")
                .body(a + "," + b);
    }

    @PostMapping("/status/{code}")
    ResponseEntity<String> status(@RequestHeader("X-Effect") String effect, @PathVariable int code) {
        int run = effects.count(effect);
        return ResponseEntity.status(run == 1 ? code : 201).body("run " + run);
    }

    @PostMapping("/gate")
    ResponseEntity<String> gate(@RequestHeader("X-Effect") String effect) throws InterruptedException {
        effects.count(effect);
        if (!effects.gate(effect).await(120, TimeUnit.SECONDS)) {
            throw new IllegalStateException("nobody opened the gate");
        }
        return ResponseEntity.status(201).body("done");
    }

    @PostMapping("/large")
    void large(HttpServletRequest request, HttpServletResponse response) throws IOException {
        effects.count(request.getHeader("X-Effect"));
        response.setHeader("Location", "/things/1");
        response.setContentType("application/octet-stream");
        byte[] chunk = "x".repeat(1 << 16).getBytes(StandardCharsets.US_ASCII);
        for (int i = 0; i < 32; i++) {
            response.getOutputStream().write(chunk);
        }
    }
}
