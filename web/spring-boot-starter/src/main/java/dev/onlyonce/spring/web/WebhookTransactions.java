package dev.onlyonce.spring.web;

import dev.onlyonce.Key;
import dev.onlyonce.http.Webhook;
import dev.onlyonce.http.WebhookHandler;
import dev.onlyonce.spring.WebhookEndpoint;
import dev.onlyonce.spring.transactions.EntryTransactions;
import dev.onlyonce.sql.inbox.Inbox;
import dev.onlyonce.sql.inbox.InboxMessage;
import org.springframework.transaction.support.DefaultTransactionDefinition;

/** One Spring transaction around the effect of a webhook and the entry that remembers it. */
public final class WebhookTransactions {
    private final EntryTransactions entries;
    private final Inbox inbox;

    public WebhookTransactions(EntryTransactions entries, Inbox inbox) {
        this.entries = entries;
        this.inbox = inbox;
    }

    public WebhookHandler handler(WebhookEndpoint.Effect effect) {
        return webhook -> apply(webhook, effect);
    }

    private boolean apply(Webhook webhook, WebhookEndpoint.Effect effect) throws Exception {
        InboxMessage message = new InboxMessage(webhook.source(), webhook.id(), webhook.content());
        return entries.run(
                new DefaultTransactionDefinition(),
                Key.of(webhook.source(), Inbox.OPERATION, webhook.id()),
                // A repeated one commits too: its commit waits for a standby, which may not have what was read.
                applied -> true,
                (connection, current) -> inbox.apply(connection, message, transaction -> {
                    var unused = current.call(() -> {
                        effect.apply(webhook);
                        return true;
                    });
                }));
    }
}
