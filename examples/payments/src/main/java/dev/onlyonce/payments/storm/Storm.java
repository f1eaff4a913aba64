package dev.onlyonce.payments.storm;

import dev.onlyonce.payments.faults.FaultyNetwork;
import dev.onlyonce.payments.faults.NetworkFault;
import dev.onlyonce.payments.provider.Movement;
import dev.onlyonce.store.Time;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Sends many payments, each many times at once, through a bad network and to a bad provider; then counts the charges. */
public final class Storm {
    private static final List<String> API_KEYS = List.of("test_alice", "test_bob");
    private static final Duration REPORT_EVERY = Duration.ofSeconds(1);
    private static final Duration CONNECT_MAX = Duration.ofSeconds(10);
    private static final int WRONG_MAX = 20;
    private static final int CREATED = 201;
    private static final int DECLINED = 402;

    private final StormOptions options;
    private final Consumer<String> progress;
    private final Tally tally = new Tally();
    private final JsonMapper json = new JsonMapper();
    private final ConcurrentLinkedQueue<Result> results = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Result> refundResults = new ConcurrentLinkedQueue<>();
    private volatile boolean enough;
    private volatile int sent;

    /** What the copies of a payment were answered; fewer than copies if some gave up. */
    private record Result(StormPayment payment, List<Sending.Answer> answers) {}

    /** The result of a storm, and what the network did to it. */
    public record Report(Verdict verdict, Map<NetworkFault, Long> networkFaults) {}

    /** The API keys of the tenants in whose names payments are sent. */
    static List<String> apiKeys() {
        return API_KEYS;
    }

    /**
     * Prepares a storm.
     *
     * @param progress receives the progress about every second, and at the end
     */
    public Storm(StormOptions options, Consumer<String> progress) {
        this.options = options;
        this.progress = progress;
    }

    /**
     * Runs to the end; the provider's faults are as before afterwards, also if it is interrupted.
     *
     * @throws IOException if the payments or the provider cannot be reached at the start
     */
    public Report run() throws IOException, InterruptedException {
        for (URI api : options.apis()) {
            checkReachable(api);
        }
        ProviderLedger ledger = new ProviderLedger(options.provider());
        Map<String, Double> calm = ledger.faults(with(options.faults(), "seed", (double) options.seed()));
        List<FaultyNetwork> networks =
                options.apis().stream().map(this::network).toList();
        try (Time time = Time.system();
                StormClient client = new StormClient(any(urls(networks)), tally, options.patience())) {
            reportRegularly(time);
            sendAll(client, time);
            Map<NetworkFault, Long> counts = new EnumMap<>(NetworkFault.class);
            networks.forEach(
                    network -> network.counts().forEach((fault, count) -> counts.merge(fault, count, Long::sum)));
            return new Report(judge(ledger.byReference()), counts);
        } finally {
            networks.forEach(FaultyNetwork::close);
            ledger.faults(calm);
        }
    }

    /** Sends no new payments; those that were sent are brought to their end. */
    public void enough() {
        enough = true;
    }

    /**
     * Sends every payment that was decided once more, without faults, and compares.
     *
     * @return the keys whose answer is not, byte for byte, what it was
     */
    public List<String> sendAgain() throws InterruptedException {
        List<String> changed = new ArrayList<>();
        try (Time time = Time.system();
                StormClient client = new StormClient(any(options.apis()), tally, options.patience())) {
            for (Result result : results) {
                Sending sending = new Sending(client, result.payment(), "again", time);
                CompletableFuture<Sending.Answer> again = sending.start();
                boolean answered = time.await(again, options.patience());
                sending.giveUp();
                boolean same = answered
                        && !again.isCompletedExceptionally()
                        && !result.answers().isEmpty()
                        && same(again.join(), result.answers().get(0));
                if (!same) {
                    changed.add(result.payment().key());
                }
            }
        }
        return changed;
    }

    private static Supplier<URI> any(List<URI> urls) {
        return () -> urls.get(ThreadLocalRandom.current().nextInt(urls.size()));
    }

    private static void checkReachable(URI api) throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(address(api), (int) CONNECT_MAX.toMillis());
        } catch (IOException e) {
            throw new IOException("No payments at " + api + " (" + e.getMessage() + ")", e);
        }
    }

    private static InetSocketAddress address(URI api) {
        return new InetSocketAddress(api.getHost(), api.getPort() < 0 ? 80 : api.getPort());
    }

    private static Map<String, Double> with(Map<String, Double> faults, String name, double value) {
        Map<String, Double> all = new HashMap<>(faults);
        all.put(name, value);
        return all;
    }

    private FaultyNetwork network(URI api) {
        return FaultyNetwork.open(0, address(api), options.networkChances());
    }

    private void reportRegularly(Time time) {
        time.schedule(REPORT_EVERY, () -> {
            progress.accept(tally.line(options.size().payments()));
            reportRegularly(time);
        });
    }

    private static List<URI> urls(List<FaultyNetwork> networks) {
        return networks.stream()
                .map(network -> URI.create("http://127.0.0.1:" + network.port()))
                .toList();
    }

    private void sendAll(StormClient client, Time time) throws InterruptedException {
        StormOptions.Size size = options.size();
        Semaphore open = new Semaphore(size.open());
        String run = UUID.randomUUID().toString().substring(0, 8);
        SplittableRandom random = new SplittableRandom(options.seed());
        ConcurrentLinkedQueue<Sending> all = new ConcurrentLinkedQueue<>();
        for (int i = 0; i < size.payments() && !enough; i++) {
            if (!open.tryAcquire(options.patience().toMillis(), TimeUnit.MILLISECONDS)) {
                break;
            }
            StormPayment payment = payment(run, i, random);
            List<Sending> copies = copies(client, payment, time);
            all.addAll(copies);
            sent = i + 1;
            boolean refunded = size.refundEvery() > 0 && i % size.refundEvery() == 0;
            send(payment, copies, result -> {
                results.add(result);
                Optional<StormPayment> refund = refunded ? refund(result) : Optional.empty();
                if (refund.isEmpty()) {
                    tally.finished();
                    open.release();
                    return;
                }
                List<Sending> refunds = copies(client, refund.get(), time);
                all.addAll(refunds);
                send(refund.get(), refunds, answered -> {
                    refundResults.add(answered);
                    tally.finished();
                    open.release();
                });
            });
        }
        if (!open.tryAcquire(size.open(), options.patience().toMillis(), TimeUnit.MILLISECONDS)) {
            all.forEach(Sending::giveUp);
            open.acquire(size.open());
        }
        progress.accept(tally.line(size.payments()));
    }

    private List<Sending> copies(StormClient client, StormPayment payment, Time time) {
        List<Sending> copies = new ArrayList<>();
        for (int copy = 0; copy < options.size().copies(); copy++) {
            copies.add(new Sending(client, payment, Integer.toString(copy), time));
        }
        return copies;
    }

    private Optional<StormPayment> refund(Result result) {
        return result.answers().stream()
                .filter(answer -> answer.status() == CREATED)
                .findFirst()
                .map(answer -> result.payment()
                        .refund(json.readTree(answer.body()).path("id").asString("")));
    }

    private static void send(StormPayment payment, List<Sending> copies, Consumer<Result> end) {
        List<CompletableFuture<Sending.Answer>> answers =
                copies.stream().map(Sending::start).toList();
        var unused = CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new))
                .whenComplete((done, failure) -> {
                    List<Sending.Answer> received = answers.stream()
                            .filter(answer -> !answer.isCompletedExceptionally())
                            .map(CompletableFuture::join)
                            .toList();
                    end.accept(new Result(payment, received));
                });
    }

    private StormPayment payment(String run, int number, SplittableRandom random) {
        long amount = 100 + random.nextLong(100_000);
        String body = "{\"amount\": %d, \"currency\": \"EUR\", \"description\": \"storm %s, payment %d\"}"
                .formatted(amount, run, number);
        String apiKey = API_KEYS.get(random.nextInt(API_KEYS.size()));
        byte[] order = body.getBytes(StandardCharsets.UTF_8);
        return new StormPayment(apiKey, "storm-" + run + "-" + number, "/payments", amount, order);
    }

    private Verdict judge(Map<String, List<Movement>> ledger) {
        int declined = 0;
        int once = 0;
        int twice = 0;
        int lost = 0;
        int differing = 0;
        int undecided = 0;
        List<String> wrong = new ArrayList<>();
        for (Result result : results) {
            if (result.answers().size() < options.size().copies()) {
                undecided++;
                continue;
            }
            Sending.Answer first = result.answers().get(0);
            if (!result.answers().stream().allMatch(other -> same(first, other))) {
                differing++;
            }
            if (first.status() != CREATED && first.status() != DECLINED) {
                note(wrong, result.payment().key() + " was answered " + first.status() + " " + text(first));
                continue;
            }
            JsonNode payment = json.readTree(first.body());
            long charges = ledger.getOrDefault(payment.path("id").asString(""), List.of()).stream()
                    .filter(movement -> movement.kind().equals("charge") && movement.succeeded())
                    .filter(movement -> movement.amount() == result.payment().amount())
                    .count();
            if (charges > 1) {
                twice++;
            } else if (charges == (first.status() == CREATED ? 0 : 1)) {
                lost++;
                note(wrong, result.payment().key() + " has " + charges + " charges for " + text(first));
            } else if (charges == 1) {
                once++;
            } else {
                declined++;
            }
        }
        undecided += sent - results.size();
        if (sent < options.size().payments() && !enough) {
            note(
                    wrong,
                    "only %,d of %,d payments were sent: none was decided for %s"
                            .formatted(sent, options.size().payments(), options.patience()));
        }
        refundResults.forEach(result -> judgeRefund(result, ledger, wrong));
        return new Verdict(sent, declined, once, twice, lost, differing, undecided, wrong);
    }

    private void judgeRefund(Result result, Map<String, List<Movement>> ledger, List<String> wrong) {
        List<Sending.Answer> answers = result.answers();
        String key = result.payment().key();
        if (answers.size() < options.size().copies()) {
            note(wrong, key + " has no final answer");
            return;
        }
        Sending.Answer first = answers.get(0);
        if (!answers.stream().allMatch(other -> same(first, other))) {
            note(wrong, key + " has different answers");
        }
        String id = json.readTree(first.body()).path("id").asString("");
        long made = ledger.getOrDefault(id, List.of()).stream()
                .filter(movement -> movement.kind().equals("refund") && movement.succeeded())
                .filter(movement -> movement.amount() == result.payment().amount())
                .count();
        boolean right = first.status() == CREATED ? made == 1 : first.status() == DECLINED && made == 0;
        if (!right) {
            note(wrong, key + " has " + made + " refunds for " + first.status() + " " + text(first));
        }
    }

    private static void note(List<String> wrong, String what) {
        if (wrong.size() < WRONG_MAX) {
            wrong.add(what);
        }
    }

    private static boolean same(Sending.Answer one, Sending.Answer other) {
        return one.status() == other.status() && Arrays.equals(one.body(), other.body());
    }

    private static String text(Sending.Answer answer) {
        return new String(answer.body(), StandardCharsets.UTF_8);
    }
}
