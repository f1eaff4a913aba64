package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.server.config.ConfigFile;
import dev.onlyonce.server.config.InvalidConfig;
import dev.onlyonce.server.config.Settings;
import dev.onlyonce.server.config.Tenancy;
import dev.onlyonce.sql.SchemaMode;
import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.OnLeaseLost;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import javax.net.ssl.X509TrustManager;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("gateway.yaml")
class ConfigFileTest {
    @TempDir
    Path folder;

    private Settings read(String yaml) throws Exception {
        return ConfigFile.read(Files.writeString(folder.resolve("gateway.yaml"), yaml));
    }

    @Test
    @DisplayName("needs nothing but an upstream")
    void smallest() throws Exception {
        Settings settings = read("upstreams: [{url: http://127.0.0.1:9000}]");
        assertThat(settings.listen().port()).isEqualTo(8090);
        assertThat(settings.admin().host()).isEqualTo("127.0.0.1");
        assertThat(settings.protection().operations())
                .extracting(operation -> operation.name())
                .containsExactly("POST /**", "PATCH /**");
        assertThat(settings.protection().tenancy()).isEqualTo(Tenancy.Shared.standard());
        assertThat(settings.store().url()).isNull();
        assertThat(settings.store().audit()).isEqualTo(AuditLevel.ALL);
        assertThat(settings.store().auditRetention()).isEqualTo(Duration.ofDays(400));
    }

    @Test
    @DisplayName("is accepted as the reference shows it, with all its settings")
    void reference() throws Exception {
        String page = Files.readString(root().resolve("docs/reference/gateway-config.md"));
        Settings settings = read(page.substring(page.indexOf("```yaml") + 7, page.lastIndexOf("```")));
        assertThat(settings.store().auditRetention()).isEqualTo(Duration.ofDays(30));
        assertThat(settings.upstreams()).hasSize(2);
        assertThat(settings.protection().operations()).hasSize(2);
        var pay = settings.protection().operations().get(0);
        assertThat(pay.policy().terms().retention()).isEqualTo(Duration.ofDays(7));
        assertThat(pay.policy().terms().lease()).isEqualTo(Duration.ofSeconds(30));
        assertThat(pay.policy().terms().onLeaseLost()).isEqualTo(OnLeaseLost.UNKNOWN);
        assertThat(settings.protection().operations().get(1).profile().name()).isEqualTo("strict");
        var lookUp = settings.protection().lookUps().get("POST /payments");
        assertThat(lookUp.path()).isEqualTo("/payments?key={key}");
        assertThat(lookUp.absent().present()).isFalse();
        assertThat(settings.protection().tenancy()).isInstanceOf(Tenancy.ApiKeys.class);
    }

    @Test
    @DisplayName("has the defaults that the reference shows")
    void documentedDefaults() throws Exception {
        String page = Files.readString(root().resolve("docs/reference/gateway-config.md"));
        String defaults = page.substring(page.indexOf("\ndefaults:"), page.indexOf("\noperations:"));
        String limits = page.substring(page.indexOf("\nlimits:"), page.indexOf("\ndefaults:"));
        Settings shown = read("upstreams: [{url: http://a}]\n" + limits + defaults);
        Settings silent = read("upstreams: [{url: http://a}]");
        assertThat(shown.protection().limits())
                .usingRecursiveComparison()
                .isEqualTo(silent.protection().limits());
        assertThat(shown.protection().operations())
                .usingRecursiveComparison()
                .ignoringFieldsMatchingRegexes(".*failures")
                .isEqualTo(silent.protection().operations());
        assertThat(silent.store().schema()).isEqualTo(SchemaMode.CREATE);
        assertThat(silent.node()).isNull();
        assertThat(read("upstreams: [{url: http://a}]\nnode: gateway-1").node()).isEqualTo("gateway-1");
    }

    static Path root() {
        return Path.of(System.getProperty("onlyonce.root"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    upstreams: [{url: http://a}]~defaults:~  retenton: 3d        |:3: there is no setting "retenton" in defaults; did you mean "retention"?
                    upstreams: [{url: http://a}]~port: 9090                      |:2: there is no setting "port" in the file; there are:
                    upstreams: [{url: http://a}]~defaults: {wait: 3s}            |:2: there is no setting "wait" in defaults; did you mean "wait-max"?
                    upstreams: [{url: http://a}]~defaults: {compare-headers: []} |:2: there is no setting "compare-headers" in defaults; did you mean "fingerprint-headers"?
                    upstreams: [{url: http://a}]~defaults: {ignore-members: []}  |did you mean "ignored-members"?
                    upstreams: [{url: http://a}]~defaults: {response-bytes-max: 1} |did you mean "result-bytes-max"?
                    upstreams: [{url: http://a}]~tenant-limits: {live-max: 1}    |:2: there is no setting "tenant-limits" in the file; did you mean "limits"?
                    upstreams: [{url: http://a}]~store: {apply-schema: true}     |did you mean "schema"?
                    upstreams: [{url: http://a}]~defaults: {retention: 3 weeks}  |:2: defaults.retention: "3 weeks" is not a duration such as
                    upstreams: [{url: http://a}]~defaults: {profile: strip}      |:2: defaults.profile: no profile "strip"; use ietf, stripe, strict or oasis
                    upstreams: [{url: http://a}]~listen: {port: 7000}~admin: {port: 7000} |admin: clients and operators would share a port; give admin another port
                    upstreams: [{url: http://a}]~operations: [{method: get, path: /a}] |requests with GET change nothing, so their retries need no protection
                    upstreams: [{url: http://a, response-timeout: 50m}]~defaults: {held-max: 40m} |is longer than the held-max of POST /**, so its claim would end before the answer
                    upstreams: [{url: http://a}]~defaults: {call-max: 5m}~operations: [{method: POST, path: /x, look-up: {request: GET /y, found: {status: 200}, absent: {status: 404}, absent-after: 4m}}] |absent-after: "4m" is out of range
                    upstreams: [{url: http://a, response-timeout: 2m}]~operations: [{method: POST, path: /x, look-up: {request: GET /y, found: {status: 200}, absent: {status: 404}}}] |believes an absence after PT1M (absent-after), but default may take PT2M
                    upstreams: [{url: ftp://a}]                                  |:1: upstreams[0].url: "ftp://a" is not an upstream's URL
                    upstreams: http://a                                          |:1: the file.upstreams must be a list
                    listen: {port: 8090}                                         |"upstreams" is missing; write for example
                    upstreams: [{url: http://a}]~listen: {port: 99999}           |:2: listen.port: "99999" is out of range
                    upstreams: [{url: http://a}]~listen: {tls: {certificate: x}} |:2: tls.certificate: the file
                    upstreams: [{url: http://a}]~store: {url: jdbc:oracle:x}     |:2: store.url: "jdbc:oracle:x" is not the URL of a supported database
                    upstreams: [{url: http://a}]~store: {url: jdbc:h2:./entries} |:2: store.url: H2 keeps the entries of an application that has it already; the gateway has no driver for it
                    upstreams: [{url: http://a}]~tenants: {}                     |:2: tenants: give exactly one of
                    upstreams: [{url: http://a}]~tenants: {api-key: {sha256: {abc: x}}} |:2: api-key.sha256: "abc" is not a SHA-256
                    upstreams: [{url: http://a}]~tenants: {fixed: "a\\tb"}      |:2: tenants.fixed: a tenant's name has a control character
                    upstreams: [{url: http://a}]~operations: [{method: POST, path: /x, look-up: {request: GET /y, found: {status: 200}, absent: {status: 200, missing: true}}}] |"missing" needs a "pointer"
                    upstreams: [{url: http://a}]~operations:~  - {path: /x}      |:3: operations[0]: "method" is missing
                    upstreams: [{url: http://a}]~operations: [{method: POST, path: x}] |a path template must begin with a slash
                    upstreams: [{url: http://a}]~operations: [{method: POST, path: /x},~{method: POST, path: /x}] |:3: operations[1]: there are two operations named
                    upstreams: [{url: http://a}]~operations: [{method: POST, path: /x, look-up: {request: GET}}] |:2: look-up.request: write a method and a path
                    upstreams: [{url: http://a}]~defaults: {on-lease-lost: resume} |:2: defaults.on-lease-lost: a gateway knows no steps
                    upstreams: [{url: http://a}]~listen: {tls: {certificate: gateway.yaml, key: gateway.yaml}} |:2: tls.certificate:
                    upstreams: [{url: http://a}]~listen: {tls: {certificate: gateway.yaml, key: gateway.yaml}} |is not an unencrypted private key in PEM; make one with
                    upstreams: [{url: http://a}]~tenants: {jwt: {key-set: gateway.yaml}} |gateway.yaml is not a JWK set such as
                    upstreams: [{url: http://a, paths: [/x]}]~operations:~- {method: POST, path: /x, look-up: {request: GET /y, found: {status: 200}, absent: {status: 404}}} |the look-up of POST /x asks for /y, which no upstream takes
                    upstreams: [{url: http://a}]~operations: [{method: POST, path: /x}]~operations: [{method: POST, path: /y}] |:3: there are two settings "operations" in the file; remove one
                    upstreams: []                                                |:1: the file: "upstreams" is missing
                    upstreams: [{url: http://a}]~operations: []                  |:2: the file.operations: nothing would be protected
                    upstreams: [{url: "http://a:70000"}]                         |:1: upstreams[0].url: "http://a:70000" is not an upstream's URL
                    upstreams: [{url: "http://user:secret@a"}]                   |:1: upstreams[0].url: an upstream's URL has no user and password; remove them
                    upstreams: [{url: http://a}]~listen:~  host:                 |:3: listen.host: has no value; give it one or remove it
                    upstreams: [{url: http://a}]~admin: {host: ""}               |:2: admin.host: is empty; write for example 127.0.0.1
                    upstreams: [{url: http://a}]~operations: [{method: POST, path: /x, look-up: {request: "GET /y?k={kee}", found: {status: 200}, absent: {status: 404}}}] |look-up: this cannot be sent: Illegal character
                    upstreams: [{url: http://a}]~operations: [{method: POST, path: /x, look-up: {request: GET /y, headers: {Host: b}, found: {status: 200}, absent: {status: 404}}}] |look-up: this cannot be sent: restricted header name
                    upstreams: [{url: http://a}]~operations: [{method: POST, path: /x, look-up: {request: GET /y, found: {status: 200, pointer: /id}, absent: {status: 200}}}] |look-up: "found" and "absent" fit the same answer
                    upstreams: [{url: http://a}]~operations: [{method: P OST, path: /x}] |operations[0]: "P OST" is not a method
                    upstreams: [{url: http://a}]~operations: [{method: POST, path: "/x/{id"}] |:2: operations[0].path: {name}, * and ** each stand for a whole segment
                    upstreams: [{url: http://a}]~operations: [{method: POST, path: "/pay*"}] |:2: operations[0].path: {name}, * and ** each
                    upstreams: [{url: http://a, paths: [payments]}]              |:1: upstreams[0].paths: "payments" is not the beginning of a path
                    upstreams: [{url: http://a}]~tenants: {header: {name: X T, from: [10.0.0.1/32]}} |:2: header.name: "X T" is not the name of a header
                    upstreams: [{url: http://a}]~observe: {otlp-endpoint: collector} |:2: observe.otlp-endpoint: "collector" is not a URL
                    upstreams: [{url: http://a}]~store: {user: me}               |:2: store: SQLite in the data directory has no user
                    upstreams: [{url: http://a}]~store: {audit-retention: 0s}    |:2: store.audit-retention: "0s" is out of range
                    upstreams: [{url: http://a}]~store: {audit: none}            |:2: store.audit: "none" is not one of all, exceptions
                    upstreams: [                                                 |this is not YAML
                    """)
    @DisplayName("that is wrong stops the start, and the message names the line and what to write")
    void wrong(String yaml, String message) {
        assertThatThrownBy(() -> read(yaml.replace("~", "\n")))
                .isInstanceOf(InvalidConfig.class)
                .hasMessageContaining("gateway.yaml")
                .hasMessageContaining(message.strip());
    }

    @Test
    @DisplayName("has all its mistakes reported at once")
    void all() {
        assertThatThrownBy(() -> read("upstreams: [{url: x}]\nlisten: {prot: 1}\ndata: d\nstor: {}"))
                .hasMessageContaining(":1:")
                .hasMessageContaining(":2:")
                .hasMessageContaining(":4:");
    }

    @Test
    @DisplayName("with a key that does not belong to the certificate, or a credential that others can read, is wrong")
    void files() throws Exception {
        SelfSigned mine = SelfSigned.in(Files.createDirectory(folder.resolve("mine")));
        SelfSigned other = SelfSigned.in(Files.createDirectory(folder.resolve("other")));
        String yaml = "upstreams: [{url: http://a}]\nlisten: {tls: {certificate: %s, key: %s}}";
        assertThat(read(yaml.formatted(mine.certificate(), mine.key())).listen().tls())
                .isNotNull();
        assertThatThrownBy(() -> read(yaml.formatted(mine.certificate(), other.key())))
                .hasMessageContaining(":2: tls.key: ")
                .hasMessageContaining("is not the private key of the certificate");
        Path credential = Files.writeString(folder.resolve("token"), "0123456789abcdef");
        Files.setPosixFilePermissions(credential, PosixFilePermissions.fromString("rw-r--r--"));
        assertThatThrownBy(() -> read("upstreams: [{url: http://a}]\nadmin: {token-file: token}"))
                .hasMessageContaining(":2: admin.token-file: ")
                .hasMessageContaining("chmod 600");
    }

    @Test
    @DisplayName("names the authorities that are trusted for an upstream instead of those that the JVM trusts")
    void authorities() throws Exception {
        Authority one = Authority.in(folder.resolve("one"));
        Authority two = Authority.in(folder.resolve("two"));
        Files.writeString(
                folder.resolve("both.pem"),
                "one\n" + Files.readString(one.certificate()) + "two\n" + Files.readString(two.certificate()));
        var authorities = read("upstreams: [{url: https://a, tls: {ca: both.pem}}]")
                .upstreams()
                .get(0)
                .authorities();
        assertThat(authorities).isNotNull();
        assertThat(((X509TrustManager) authorities.trustManagers().getTrustManagers()[0]).getAcceptedIssuers())
                .hasSize(2)
                .extracting(issuer -> issuer.getPublicKey())
                .doesNotHaveDuplicates();
        assertThat(read("upstreams: [{url: https://a}]").upstreams().get(0).authorities())
                .isNull();
    }

    @Test
    @DisplayName(
            "with a file for an upstream's authorities that is no such thing is wrong, in its line and with what to do")
    void wrongAuthorities() throws Exception {
        Authority authority = Authority.in(folder.resolve("ca"));
        String certificate = Files.readString(authority.certificate());
        Authority.Issued issued = authority.issue("ip:127.0.0.1");
        Files.writeString(folder.resolve("text.pem"), "the certificate");
        Files.writeString(folder.resolve("crl.pem"), "-----BEGIN X509 CRL-----\nAA==\n-----END X509 CRL-----\n");
        Files.writeString(folder.resolve("both.pem"), certificate + Files.readString(issued.key()));
        Files.writeString(folder.resolve("cut.pem"), certificate + certificate.substring(0, certificate.length() - 30));
        Files.writeString(folder.resolve("junk.pem"), certificate.replaceFirst("\n.{16}", "\nAAAAAAAAAAAAAAAA"));
        Files.writeString(folder.resolve("odd.pem"), certificate.replaceFirst("\n.", "\n*"));
        wrongAuthorities("{ca: none.pem}", "tls.ca: the file ", "none.pem does not exist or cannot be read");
        wrongAuthorities("{ca: ca}", "tls.ca: the file ", "does not exist or cannot be read");
        wrongAuthorities("{ca: text.pem}", "tls.ca: ", "text.pem is not PEM; make it with: openssl x509");
        wrongAuthorities("{ca: crl.pem}", "tls.ca: ", "crl.pem has no certificate", "name the authority's");
        wrongAuthorities("{ca: both.pem}", "tls.ca: ", "both.pem has a private key in it; name a file of certificates");
        wrongAuthorities("{ca: cut.pem}", "tls.ca: ", "cut.pem has a certificate without an end; copy it again");
        wrongAuthorities("{ca: junk.pem}", "tls.ca: ", "junk.pem has a certificate that cannot be read; copy it again");
        wrongAuthorities("{ca: odd.pem}", "tls.ca: ", "odd.pem has a certificate that cannot be read; copy it again");
        wrongAuthorities("{}", "tls: \"ca\" is missing; write for example ca: ca.pem");
        wrongAuthorities("{ca: ca/ca.pem, key: x}", "there is no setting \"key\" in tls");
        assertThatThrownBy(() -> read("upstreams:\n  - url: http://a\n    tls: {ca: ca/ca.pem}"))
                .hasMessageContaining(
                        ":3: tls: an upstream at http:// shows no certificate; write https:// in its url");
    }

    private void wrongAuthorities(String tls, String... messages) {
        assertThatThrownBy(() -> read("upstreams:\n  - url: https://a\n    tls: " + tls))
                .isInstanceOf(InvalidConfig.class)
                .hasMessageContaining("gateway.yaml:3: ")
                .hasMessageContainingAll(messages);
    }

    @Test
    @DisplayName(
            "with an upstream's URL that is wrong has its other settings judged all the same, and not called unknown")
    void wrongUrl() {
        assertThatThrownBy(() -> read("upstreams:\n  - {url: ftp://a, name: b,\n  http2: perhaps}"))
                .hasMessageContaining(":2: upstreams[0].url: ")
                .hasMessageContaining(":3: upstreams[0].http2: \"perhaps\" is not true or false")
                .hasMessageNotContaining("there is no setting");
    }

    @Test
    @DisplayName("that is not in UTF-8 is said to be that")
    void encoding() throws Exception {
        Path file = Files.writeString(folder.resolve("gateway.yaml"), "# caf\u00e9", StandardCharsets.ISO_8859_1);
        assertThatThrownBy(() -> ConfigFile.read(file)).hasMessageContaining("not in UTF-8");
    }

    @Test
    @DisplayName("never shows a password")
    void password() throws IOException {
        assertThatThrownBy(() -> read("upstreams: [{url: http://a}]\nstore: {url: 'jdbc:x:y?password=secret'}"))
                .hasMessageNotContaining("secret");
    }
}
