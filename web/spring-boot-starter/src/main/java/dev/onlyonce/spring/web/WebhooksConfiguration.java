package dev.onlyonce.spring.web;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.Scope;
import dev.onlyonce.http.WebhookHandler;
import dev.onlyonce.servlet.WebhookServlet;
import dev.onlyonce.spring.OnlyonceProperties;
import dev.onlyonce.spring.WebhookEndpoint;
import dev.onlyonce.spring.operations.InvalidSettings;
import dev.onlyonce.spring.transactions.EntryTransactions;
import dev.onlyonce.sql.inbox.Inbox;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.HttpRequestHandler;
import org.springframework.web.servlet.handler.SimpleUrlHandlerMapping;

/** Receives webhooks at the paths of the application's {@link WebhookEndpoint} beans. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean(WebhookEndpoint.class)
class WebhooksConfiguration {
    /** Before controllers: one that takes every path must not swallow webhooks. */
    private static final int ORDER = -10;

    @Bean
    SimpleUrlHandlerMapping onlyonceWebhooks(
            List<WebhookEndpoint> endpoints,
            OnlyonceProperties properties,
            Onlyonce once,
            ObjectProvider<EntryTransactions> transactions) {
        Function<WebhookEndpoint.Effect, WebhookHandler> applied = applied(properties, once, transactions);
        Map<String, HttpRequestHandler> handlers = new TreeMap<>();
        for (WebhookEndpoint endpoint : endpoints) {
            WebhookServlet servlet = new WebhookServlet(endpoint.receiver().build(applied.apply(endpoint.effect())));
            if (handlers.put(endpoint.path(), servlet::service) != null) {
                throw new InvalidSettings(
                        "Two beans of type WebhookEndpoint have the path " + endpoint.path(),
                        "Give each source a path of its own.",
                        null);
            }
        }
        return new SimpleUrlHandlerMapping(handlers, ORDER);
    }

    private static Function<WebhookEndpoint.Effect, WebhookHandler> applied(
            OnlyonceProperties properties, Onlyonce once, ObjectProvider<EntryTransactions> transactions) {
        EntryTransactions entries = transactions.getIfAvailable();
        if (entries != null) {
            return new WebhookTransactions(entries, Inbox.of(once))::handler;
        }
        if (properties.store().memory()) {
            return effect -> inMemory(once, effect);
        }
        throw new InvalidSettings(
                "There are beans of type WebhookEndpoint, but the entries that remember webhooks are not in the database of the"
                        + " application's transactions, so a webhook could be applied twice",
                "Keep the entries in the application's DataSource (no Store bean of another kind, no onlyonce.store.sqlite), and"
                        + " have one transaction manager for it; or set onlyonce.store=memory for tests.",
                null);
    }

    /** For tests. Without a transaction to share, a webhook whose effect has failed is in doubt and not applied again. */
    private static WebhookHandler inMemory(Onlyonce once, WebhookEndpoint.Effect effect) {
        return webhook -> {
            Key key = Key.of(webhook.source(), Inbox.OPERATION, webhook.id()).in(Scope.OPERATION);
            Outcome<byte[]> outcome = once.execute(key, webhook.content(), Codec.bytes(), claim -> {
                effect.apply(webhook);
                return new byte[0];
            });
            outcome.orElseThrow();
            return outcome instanceof Outcome.Executed;
        };
    }
}
