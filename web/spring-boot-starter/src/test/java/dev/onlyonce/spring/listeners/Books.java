package dev.onlyonce.spring.listeners;

import dev.onlyonce.Event;
import dev.onlyonce.Listener;
import dev.onlyonce.NotExecuted;
import dev.onlyonce.messages.PoisonMessage;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** What the listeners of the tests do, whichever broker calls them. */
final class Books implements Listener {
    final List<String> calls = new CopyOnWriteArrayList<>();
    final List<Event.Consumed> events = new CopyOnWriteArrayList<>();
    private final Map<String, Integer> failures = new ConcurrentHashMap<>();
    private final JdbcTemplate jdbc;
    volatile CountDownLatch letGo = new CountDownLatch(1);
    final AtomicInteger interrupts = new AtomicInteger();

    Books(DataSource source) {
        this.jdbc = new JdbcTemplate(source);
        jdbc.execute("CREATE TABLE effect (body varchar(100) NOT NULL)");
    }

    @Override
    public void on(Event event) {
        if (event instanceof Event.Consumed consumed) {
            events.add(consumed);
        }
    }

    /** The next calls with this body fail. */
    void fail(String body, int times) {
        failures.put(body, times);
    }

    private boolean isFailing(String body) {
        return failures.merge(body, -1, Integer::sum) >= 0;
    }

    /** Goes on when it is interrupted, until it is let go. */
    private void hang() {
        while (letGo.getCount() > 0) {
            try {
                letGo.await();
            } catch (InterruptedException e) {
                interrupts.incrementAndGet();
            }
        }
        throw new IllegalStateException("it took too long");
    }

    /** Of a transactional listener. */
    void charge(String body) {
        calls.add(body);
        jdbc.update("INSERT INTO effect (body) VALUES (?)", body);
        if (body.startsWith("hangs")) {
            hang();
        }
        if (body.startsWith("rejected")) {
            throw new PoisonMessage("no such account");
        }
        if (isFailing(body)) {
            throw new IllegalStateException("not yet");
        }
    }

    /** Of a leased listener. */
    void ship(String body) {
        calls.add(body);
        if (body.startsWith("hangs")) {
            hang();
        }
        if (body.startsWith("unknown")) {
            throw new IllegalStateException("the line went dead");
        }
        if (isFailing(body)) {
            throw new NotExecuted("the line was busy");
        }
    }

    List<String> effects(String prefix) {
        return jdbc.queryForList("SELECT body FROM effect WHERE body LIKE ?", String.class, prefix + "%");
    }

    List<String> calls(String prefix) {
        return calls.stream().filter(body -> body.startsWith(prefix)).toList();
    }

    long count(Event.Consumed.End end, String topic) {
        return events.stream()
                .filter(event -> event.end() == end && event.topic().equals(topic))
                .count();
    }
}
