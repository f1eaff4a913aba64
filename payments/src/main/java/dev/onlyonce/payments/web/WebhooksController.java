package dev.onlyonce.payments.web;

import dev.onlyonce.MalformedKey;
import dev.onlyonce.http.WebhookSignature;
import dev.onlyonce.payments.domain.Invalid;
import dev.onlyonce.payments.domain.ProviderEvent;
import dev.onlyonce.payments.domain.ProviderEvents;
import dev.onlyonce.payments.provider.Webhooks;
import dev.onlyonce.spring.Unprotected;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** What the provider tells by itself: believed only with its signature, and applied once. */
@RestController
class WebhooksController {
    private final WebhookSignature signature;
    private final ProviderEvents events;
    private final InstantSource clock;
    /** The provider's spelling is its own, whatever ours is. */
    private final JsonMapper json = new JsonMapper();

    WebhooksController(WebhookSignature signature, ProviderEvents events, InstantSource clock) {
        this.signature = signature;
        this.events = events;
        this.clock = clock;
    }

    @PostMapping("/webhooks/provider")
    @Unprotected("events are deduplicated by their id")
    ResponseEntity<Void> receive(
            @RequestHeader(name = Webhooks.SIGNATURE_HEADER, required = false) @Nullable String header,
            @RequestBody byte[] body) {
        signature.refusal(header, body, clock.instant()).ifPresent(why -> {
            throw new Refusal(HttpStatus.UNAUTHORIZED, "signature_invalid", why);
        });
        ProviderEvent event;
        try {
            event = json.readValue(body, ProviderEvent.class);
        } catch (JacksonException e) {
            throw new Refusal(HttpStatus.BAD_REQUEST, "event_malformed", "the event cannot be read");
        }
        new Invalid.Check()
                .text(event.id(), "id", 64)
                .text(event.type(), "type", 64)
                .done();
        try {
            events.receive(event);
        } catch (MalformedKey e) {
            throw new Refusal(
                    HttpStatus.BAD_REQUEST, "event_malformed", "the id has characters that are not visible ASCII");
        }
        return ResponseEntity.noContent().build();
    }
}
