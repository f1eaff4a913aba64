package dev.onlyonce.testkit.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What a protected application does while its store is away. The application is that of {@link HttpConformance}. */
public abstract class OutageConformance implements Part {

    /** Where the application is. */
    protected abstract URI base();

    /** The {@code Authorization} header of a tenant. */
    protected abstract String authorization(String tenant);

    /** Takes the store away: connections break, and no new ones can be made. */
    protected abstract void stopStore();

    /** Brings it back, with all that was acknowledged. */
    protected abstract void startStore();

    @Override
    public final Client client() {
        return new Client(base(), this::authorization);
    }

    @Test
    @DisplayName(
            "D9 R3 store stopped and started: nothing runs without it, nothing runs twice, others go on, it recovers by itself")
    void outage() {
        Call before = call("/ietf/echo");
        Answer recorded = before.send();
        Call during = call("/ietf/gate");
        CompletableFuture<Answer> running = during.beginAndEnter();
        stopStore();
        try {
            Call refused = call("/ietf/echo");
            refused.send().assertProblem(503, "store_unavailable");
            assertThat(refused.effects()).isZero();
            assertThat(refused.method("GET").send().status()).isEqualTo(201);
            during.openGate();
            Client.join(running).assertProblem(503, "not_recorded");
        } finally {
            startStore();
        }
        Call after = call("/ietf/echo");
        Client.await("it recovers by itself", () -> after.send().status() == 201);
        before.send().assertReplayOf(recorded);
        Client.await("the interrupted one is recorded, or known to be in doubt", () -> {
            Answer retry = during.send();
            return retry.isReplay() || retry.text().contains("outcome_unknown");
        });
        assertThat(during.effects()).isEqualTo(1);
    }
}
