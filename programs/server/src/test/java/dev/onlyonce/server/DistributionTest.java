package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import dev.onlyonce.server.config.ConfigFile;
import dev.onlyonce.server.config.Listen;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** What can be said of the distribution before it is packed; {@code NewcomerTest} of the module report unpacks and runs it. */
@DisplayName("The distribution")
class DistributionTest {
    private static final Path SERVER = ConfigFileTest.root().resolve("programs/server");
    private static final Path DIST = SERVER.resolve("src/dist");
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    Path folder;

    private static String read(String file) throws IOException {
        return Files.readString(DIST.resolve(file));
    }

    private record Ran(int exitCode, String out) {}

    private static Ran run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Ran(process.waitFor(), out);
    }

    private static boolean isOnPath(String program) {
        return Stream.of(System.getenv("PATH").split(":"))
                .anyMatch(directory -> Files.isExecutable(Path.of(directory, program)));
    }

    @Test
    @DisplayName("has scripts without errors of syntax")
    void scripts() throws Exception {
        assertThat(run("sh", "-n", DIST.resolve("bin/onlyonce").toString())).isEqualTo(new Ran(0, ""));
        assertThat(run(
                        "bash",
                        "-n",
                        DIST.resolve("share/completions/onlyonce.bash").toString()))
                .isEqualTo(new Ran(0, ""));
    }

    @Test
    @DisplayName("has a unit for systemd that may do little and is stopped as late as the gateway needs")
    void unit() throws Exception {
        String unit = read("share/systemd/onlyonce.service");
        assertThat(unit)
                .contains(
                        "NoNewPrivileges=yes\n", "DynamicUser=yes\n", "ProtectSystem=strict\n", "PrivateDevices=yes\n")
                .contains("CapabilityBoundingSet=\n", "SystemCallFilter=@system-service\n", "UMask=0077\n")
                .contains("StateDirectory=onlyonce\n", "CacheDirectory=onlyonce\n", "Restart=always\n");
        Matcher stop = Pattern.compile("TimeoutStopSec=(\\d+)s").matcher(unit);
        assertThat(stop.find()).isTrue();
        Listen.Limits limits = Listen.Limits.standard();
        assertThat(Long.parseLong(stop.group(1)))
                .isGreaterThanOrEqualTo(
                        limits.drainGrace().plus(limits.drainTimeout()).toSeconds() + 10);
        if (isOnPath("systemd-analyze")) {
            // The program is not where the unit expects it.
            Path copy = Files.writeString(
                    folder.resolve("onlyonce.service"), unit.replaceAll("(?m)^ExecStart=.*$", "ExecStart=/bin/true"));
            assertThat(run("systemd-analyze", "verify", "--man=no", copy.toString())
                            .out())
                    .doesNotContain("onlyonce.service:");
        }
    }

    @Test
    @DisplayName(
            "has a Dockerfile whose image has no shell and no root, starts without one, and says whether it is well")
    void dockerfile() throws Exception {
        List<String> lines = read("share/container/Dockerfile")
                .lines()
                .filter(line -> !line.isBlank() && !line.startsWith("#"))
                .toList();
        List<String> last = lines.subList(
                lines.lastIndexOf(lines.stream()
                        .filter(line -> line.startsWith("FROM "))
                        .reduce((one, other) -> other)
                        .orElseThrow()),
                lines.size());
        assertThat(last.get(0)).contains("distroless").endsWith(":nonroot");
        assertThat(last).contains("USER 65532:65532").noneMatch(line -> line.startsWith("RUN "));
        Map<String, JsonNode> forms = new HashMap<>();
        for (String line : lines) {
            Matcher form = Pattern.compile("(RUN|HEALTHCHECK .*CMD|ENTRYPOINT|CMD) (\\[.*)")
                    .matcher(line);
            if (form.matches()) {
                forms.put(form.group(1).split(" ")[0], JSON.readTree(form.group(2)));
            } else {
                assertThat(line)
                        .as("a form that needs a shell")
                        .doesNotStartWith("RUN")
                        .doesNotStartWith("CMD");
            }
        }
        assertThat(forms).containsKeys("HEALTHCHECK", "ENTRYPOINT", "CMD");
        assertThat(forms.get("HEALTHCHECK").toString()).contains(HealthCheck.class.getName());
        String modules = Pattern.compile("<runtime.modules>(.*)</")
                .matcher(Files.readString(SERVER.resolve("pom.xml")))
                .results()
                .findFirst()
                .map(found -> found.group(1))
                .orElseThrow();
        assertThat(String.join("\n", lines))
                .as("the modules of the jlink variant")
                .contains("\"" + modules + "\"");
    }

    @Test
    @DisplayName("asks a gateway whether it is well, and believes nothing but 200")
    void healthCheck() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(exchange.getRequestURI().getPath().equals("/well") ? 200 : 503, -1);
            exchange.close();
        });
        server.start();
        try {
            String base = "http://127.0.0.1:" + server.getAddress().getPort();
            assertThat(check(base + "/well").exitCode()).isZero();
            assertThat(check(base + "/ill").exitCode()).isEqualTo(1);
        } finally {
            server.stop(0);
        }
        assertThat(check("http://127.0.0.1:1/").exitCode()).isEqualTo(1);
    }

    private static Ran check(String address) throws Exception {
        List<String> command = new ArrayList<>(GatewayProcess.java());
        command.set(command.size() - 1, HealthCheck.class.getName());
        command.add(address);
        return run(command.toArray(String[]::new));
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> at(Object node, String... path) {
        Object found = node;
        for (String key : path) {
            found = found instanceof List<?> list
                    ? list.get(Integer.parseInt(key))
                    : ((Map<String, Object>) found).get(key);
            assertThat(found).as(String.join(".", path)).isNotNull();
        }
        return (Map<String, Object>) found;
    }

    @Test
    @DisplayName("has manifests for Kubernetes that fit one another and the gateway, and ask for no rights")
    void kubernetes() throws Exception {
        Map<String, Object> kinds = new HashMap<>();
        for (Object document :
                new Load(LoadSettings.builder().build()).loadAllFromString(read("share/kubernetes/onlyonce.yaml"))) {
            kinds.put((String) at(document).get("kind"), document);
        }
        assertThat(kinds.keySet())
                .isEqualTo(Set.of("ConfigMap", "Deployment", "Service", "PodDisruptionBudget", "NetworkPolicy"));
        Object deployment = kinds.get("Deployment");
        Map<String, Object> labels = at(deployment, "spec", "template", "metadata", "labels");
        assertThat(at(deployment, "spec", "selector", "matchLabels")).isEqualTo(labels);
        assertThat(at(kinds.get("Service"), "spec", "selector")).isEqualTo(labels);
        assertThat(at(kinds.get("PodDisruptionBudget"), "spec", "selector", "matchLabels"))
                .isEqualTo(labels);
        assertThat(at(kinds.get("NetworkPolicy"), "spec", "podSelector", "matchLabels"))
                .isEqualTo(labels);

        Map<String, Object> pod = at(deployment, "spec", "template", "spec");
        assertThat(at(pod, "securityContext"))
                .containsEntry("runAsNonRoot", true)
                .containsKey("seccompProfile");
        Map<String, Object> container = at(pod, "containers", "0");
        assertThat(at(container, "securityContext"))
                .containsEntry("allowPrivilegeEscalation", false)
                .containsEntry("readOnlyRootFilesystem", true)
                .containsEntry("capabilities", Map.of("drop", List.of("ALL")));
        assertThat(pod).containsEntry("automountServiceAccountToken", false).containsEntry("enableServiceLinks", false);
        for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
            assertThat(at(container, probe, "httpGet")).containsEntry("port", "admin");
        }
        Set<Object> volumes = Set.copyOf(((List<?>) pod.get("volumes"))
                .stream().map(volume -> at(volume).get("name")).toList());
        assertThat(((List<?>) container.get("volumeMounts"))
                        .stream().map(mount -> at(mount).get("name")))
                .containsExactlyInAnyOrderElementsOf(volumes);

        // Secrets are read when it starts, so they must be there to check the rest.
        String yaml = (String) at(kinds.get("ConfigMap"), "data").get("gateway.yaml");
        for (MatchResult secret : Pattern.compile("/run/secrets/onlyonce/([\\w-]+)")
                .matcher(yaml)
                .results()
                .toList()) {
            Path file = Files.writeString(folder.resolve(secret.group(1)), "secret-of-32-characters-or-more-01");
            Files.setPosixFilePermissions(file, java.nio.file.attribute.PosixFilePermissions.fromString("rw-------"));
        }
        Listen listen = ConfigFile.read(Files.writeString(
                        folder.resolve("gateway.yaml"), yaml.replace("/run/secrets/onlyonce", folder.toString())))
                .listen();
        assertThat(at(container, "ports", "0")).containsEntry("containerPort", listen.port());
        assertThat((Integer) pod.get("terminationGracePeriodSeconds"))
                .isGreaterThanOrEqualTo((int) listen.limits()
                                .drainGrace()
                                .plus(listen.limits().drainTimeout())
                                .toSeconds()
                        + 10);
    }
}
