package dev.onlyonce.spring.reactive;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PatchMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The handlers that the conformance suite asks for, without a blocked thread; each prefix is a controller that inherits them. */
abstract class ReactiveHandlers {
    @Autowired
    private ReactiveEffects effects;

    @PostMapping("/echo")
    Mono<ResponseEntity<byte[]>> echo(
            @RequestHeader("X-Effect") String effect, @RequestBody(required = false) Mono<byte[]> body) {
        return answer(effect, body);
    }

    @PatchMapping("/echo")
    Mono<ResponseEntity<byte[]>> patched(
            @RequestHeader("X-Effect") String effect, @RequestBody(required = false) Mono<byte[]> body) {
        return answer(effect, body);
    }

    @PostMapping("/other")
    Mono<ResponseEntity<byte[]>> other(
            @RequestHeader("X-Effect") String effect, @RequestBody(required = false) Mono<byte[]> body) {
        return answer(effect, body);
    }

    @RequestMapping(
            path = "/echo",
            method = {RequestMethod.GET, RequestMethod.PUT, RequestMethod.DELETE})
    Mono<ResponseEntity<byte[]>> unprotected(
            @RequestHeader("X-Effect") String effect, @RequestBody(required = false) Mono<byte[]> body) {
        return answer(effect, body);
    }

    private Mono<ResponseEntity<byte[]>> answer(String effect, Mono<byte[]> body) {
        return body.defaultIfEmpty(new byte[0]).map(received -> {
            HttpHeaders headers = new HttpHeaders();
            headers.add("Location", "/things/1");
            headers.add("X-Several", "one");
            headers.add("X-Several", "two");
            headers.add("Set-Cookie", "session=secret");
            headers.add("traceparent", "00-1");
            headers.add("Content-Type", "application/json");
            String json = "{\"run\":" + effects.count(effect) + ",\"received\":\""
                    + Base64.getEncoder().encodeToString(received) + "\"}";
            return ResponseEntity.status(201).headers(headers).body(json.getBytes(StandardCharsets.UTF_8));
        });
    }

    @PostMapping("/form")
    Mono<ResponseEntity<String>> form(@RequestHeader("X-Effect") String effect, ServerWebExchange exchange) {
        return exchange.getFormData().map(form -> {
            effects.count(effect);
            return ResponseEntity.ok()
                    .header("Content-Type", "text/plain;charset=UTF-8")
                    .body(form.getFirst("a") + "," + form.getFirst("b"));
        });
    }

    @PostMapping("/status/{code}")
    Mono<ResponseEntity<String>> status(@RequestHeader("X-Effect") String effect, @PathVariable int code) {
        return Mono.fromSupplier(() -> {
            int run = effects.count(effect);
            return ResponseEntity.status(run == 1 ? code : 201).body("run " + run);
        });
    }

    @PostMapping("/gate")
    Mono<ResponseEntity<String>> gate(@RequestHeader("X-Effect") String effect) {
        return Mono.defer(() -> {
            effects.count(effect);
            return effects.gate(effect)
                    .asMono()
                    .thenReturn(ResponseEntity.status(201).body("done"));
        });
    }

    @PostMapping("/large")
    ResponseEntity<Flux<DataBuffer>> large(@RequestHeader("X-Effect") String effect) {
        effects.count(effect);
        byte[] chunk = "x".repeat(1 << 16).getBytes(StandardCharsets.US_ASCII);
        return ResponseEntity.ok()
                .header("Location", "/things/1")
                .contentType(MediaType.APPLICATION_OCTET_STREAM)
                .body(Flux.range(0, 32).map(i -> DefaultDataBufferFactory.sharedInstance.wrap(chunk)));
    }
}
