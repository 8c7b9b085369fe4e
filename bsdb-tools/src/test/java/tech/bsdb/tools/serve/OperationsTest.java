package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.math.BigInteger;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.Layout;
import tech.bsdb.tools.CommandRun;
import tech.bsdb.tools.serve.Wire.Response;
import tech.bsdb.tools.serve.client.Credentials.TlsFiles;

@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OperationsTest {
  @TempDir Path folder;
  private Serving serving;

  @BeforeEach
  void build() throws IOException {
    serving = new Serving(Serving.build(folder.resolve("db"), Map.of("k", "value", "l", "2")));
  }

  @AfterEach
  void end() {
    serving.close();
  }

  @Test
  void whatIsCountedIsExact() throws IOException {
    serving.start();
    try (Wire wire = serving.connect()) {
      for (int i = 0; i < 300; i++) {
        assertThat(wire.get("/bsdb/" + (i % 3 == 0 ? "absent" : "k")).status())
            .isEqualTo(i % 3 == 0 ? 404 : 200);
      }
      wire.post("/bsdb/", "Content-Type: text/plain\r\n", "k\nl\nm\n".getBytes(UTF_8));
      assertThat(wire.get("/bsdb/%").status()).isEqualTo(400);
      assertThat(wire.get("/nowhere").status()).isEqualTo(404);
      assertThat(serving.metric("bsdb_lookup_hits_total")).isEqualTo(202);
      assertThat(serving.metric("bsdb_lookup_misses_total")).isEqualTo(101);
      assertThat(serving.metric("bsdb_lookup_errors_total")).isZero();
      assertThat(serving.metric("bsdb_http_requests_total{status=\"200\"}")).isEqualTo(201);
      assertThat(serving.metric("bsdb_http_requests_total{status=\"404\"}")).isEqualTo(101);
      assertThat(serving.metric("bsdb_http_requests_total{status=\"400\"}")).isEqualTo(1);
      assertThat(serving.metric("bsdb_http_request_duration_seconds_count")).isEqualTo(303);
      assertThat(serving.metric("bsdb_http_requests_in_flight")).isZero();
      assertThat(serving.metric("bsdb_lookups_in_flight")).isZero();
      assertThat(serving.metric("bsdb_http_connections")).isEqualTo(1);
      assertThat(serving.metric("bsdb_database_records")).isEqualTo(2);
      assertThat(serving.metric("bsdb_database_resident_bytes"))
          .isBetween(
              serving.metric("bsdb_database_huge_page_bytes"),
              serving.metric("bsdb_database_size_bytes"));
      String page = wire.get("/metrics").text();
      assertThat(page).contains("jvm_memory_used_bytes", "bsdb_database_info{", "engine=\"");
    }
  }

  @Test
  void aPackedDatabaseIsServedAndDescribed() throws IOException {
    Path packed = folder.resolve("packed");
    BuildOptions options =
        BuildOptions.defaults().withLayout(Layout.PACKED).withFilterBits(5).withOrderedKeys(true);
    try (DatabaseBuilder builder = DatabaseBuilder.create(packed, options)) {
      for (String key : List.of("k", "l", "m")) {
        builder.add(key.getBytes(UTF_8), ("value of " + key).getBytes(UTF_8));
      }
      builder.finish();
    }
    for (boolean async : List.of(false, true)) {
      try (Serving server = new Serving(packed)) {
        server.async = async;
        server.start();
        try (Wire wire = server.connect()) {
          assertThat(wire.get("/bsdb/l").text()).isEqualTo("value of l");
          assertThat(wire.get("/bsdb/absent").status()).isEqualTo(404);
          assertThat(wire.get("/stats").text())
              .contains("\"layout\":\"packed\"", "\"checksumBits\":0,", "\"hashBytes\":0,")
              .contains("\"filterBits\":5,", "\"filterBytes\":16384,")
              .contains("\"ordered\":true,", "\"orderBytes\":12288,");
          assertThat(wire.get("/metrics").text()).contains("layout=\"packed\"");
        }
      }
    }
  }

  @Test
  void metricsAreInTheFormatThatIsAskedFor() throws IOException {
    serving.start();
    try (Wire wire = serving.connect()) {
      Response plain = wire.get("/metrics");
      assertThat(plain.headers().get("content-type")).startsWith("text/plain; version=0.0.4");
      Response open =
          wire.send(
                  "GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: "
                      + "application/openmetrics-text; version=1.0.0\r\n\r\n")
              .read();
      assertThat(open.headers().get("content-type")).startsWith("application/openmetrics-text");
      assertThat(open.text()).endsWith("# EOF\n");
    }
  }

  @Test
  void theFiguresAreJson() throws IOException {
    serving.start();
    try (Wire wire = serving.connect()) {
      Response stats = wire.get("/stats");
      assertThat(stats.headers()).containsEntry("content-type", "application/json");
      try (JsonParser parser = new JsonFactory().createParser(stats.body())) {
        parser.nextToken();
        parser.skipChildren();
        assertThat(parser.nextToken()).isNull();
      }
      assertThat(stats.text())
          .contains("\"prefix\":\"/bsdb/\"", "\"records\":2", "\"store\":null", "\"p99Seconds\":")
          .containsPattern("\"residentBytes\":[0-9]+,\"hugePageBytes\":[0-9]+}");
      assertThat(wire.get("/healthz").text()).isEqualTo("{\"status\":\"ok\"}\n");
      assertThat(wire.get("/readyz").text()).startsWith("{\"status\":\"ready\",\"version\":");
      assertThat(wire.get("/openapi.yaml").text()).startsWith("openapi: 3.").contains("/bsdb/");
      Response page = wire.get("/");
      assertThat(page.headers().get("content-type")).isEqualTo("text/html; charset=utf-8");
      assertThat(page.headers().get("content-security-policy"))
          .startsWith("default-src 'none'; script-src 'sha256-");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "--no-http, --no-http leaves nothing to listen on; add --resp PORT",
    "--no-http --resp 0 -p 80, --no-http and -p cannot be combined: it is the port of HTTP",
    "--no-http --resp 0 -P /a/, --no-http and -P cannot be combined: it is the path of keys",
    "-ic -id, '-ic and -id cannot be combined: the index is read from memory, or from the device'",
  })
  void optionsWithoutEffectAreRefused(String options, String words) {
    CommandRun run = CommandRun.bsdb(("serve -d " + serving.directory + " " + options).split(" "));
    assertThat(run.code()).isEqualTo(2);
    assertThat(run.err()).contains(words);
  }

  @Test
  void drainingSendsClientsElsewhere() throws IOException {
    serving.start();
    try (Wire wire = serving.connect();
        Wire admin = serving.administrate()) {
      assertThat(wire.get("/readyz").status()).isEqualTo(200);
      assertThat(admin.get("/drain").status()).isEqualTo(405);
      Response options = admin.send("OPTIONS /drain HTTP/1.1\r\nHost: x\r\n\r\n").read();
      assertThat(options.status()).isEqualTo(200);
      assertThat(options.headers()).containsEntry("allow", "POST, OPTIONS");
      assertThat(admin.post("/drain", "", new byte[0]).text()).contains("draining");
      Response last = wire.get("/bsdb/k");
      assertThat(last.text()).isEqualTo("value");
      assertThat(last.headers()).containsEntry("connection", "close");
      assertThat(wire.ended()).isTrue();
      try (Wire again = serving.connect()) {
        assertThat(again.get("/readyz").status()).isEqualTo(503);
      }
      assertThat(admin.post("/resume", "", new byte[0]).text()).contains("serving");
      try (Wire again = serving.connect()) {
        assertThat(again.get("/readyz").status()).isEqualTo(200);
      }
      assertThat(admin.post("/drain", "Origin: http://evil\r\n", new byte[0]).status())
          .isEqualTo(403);
      assertThat(admin.post("/nothing", "", new byte[0]).status()).isEqualTo(404);
    }
  }

  @Test
  void anotherBuildInThePlaceOfADatabaseIsServed() throws IOException {
    serving.start();
    try (Wire wire = serving.connect();
        Wire admin = serving.administrate()) {
      assertThat(admin.post("/reload", "", new byte[0]).text()).contains("\"changed\":false");
      Path next = Serving.build(folder.resolve("next"), Map.of("k", "newer"));
      try (var files = Files.list(next)) {
        for (Path file : files.sorted().toList()) { // the manifest comes last in a build too
          if (!file.endsWith("manifest.bsdb")) {
            Files.copy(file, serving.directory.resolve(file.getFileName()));
          }
        }
      }
      Files.move(
          Database.manifest(next),
          Database.manifest(serving.directory),
          StandardCopyOption.REPLACE_EXISTING);
      while (!wire.get("/bsdb/k").text().equals("newer")) {
        assertThat(wire.get("/bsdb/k").status()).isEqualTo(200);
      }
      Files.write(Database.manifest(serving.directory), new byte[5000]);
      Response refused = admin.post("/reload", "", new byte[0]);
      assertThat(refused.status()).isEqualTo(409);
      assertThat(refused.text()).contains("stays in service");
      assertThat(wire.get("/bsdb/k").text()).isEqualTo("newer");
      assertThat(wire.get("/readyz").text()).contains("\"ready\"", "\"refused\":{");
      assertThat(serving.metric("bsdb_version_refused")).isEqualTo(1);
    }
  }

  @Test
  void withoutATokenOnlyProbesAreAnswered() throws IOException {
    serving.tokens = Files.writeString(folder.resolve("tokens"), "first\n\n second \r\n");
    serving.start();
    try (Wire wire = serving.connect()) {
      for (String open : List.of("/healthz", "/readyz")) {
        assertThat(wire.get(open).status()).isEqualTo(200);
      }
      for (String closed :
          List.of("/", "/metrics", "/stats", "/openapi.yaml", "/bsdb/k", "/bsdb/x", "/x")) {
        Response refused = wire.get(closed);
        assertThat(refused.status()).as(closed).isEqualTo(401);
        assertThat(refused.headers().get("www-authenticate")).startsWith("Bearer");
      }
      for (String good : List.of("Bearer first", "bearer second", "Bearer  second")) {
        assertThat(authorized(wire, good).text()).isEqualTo("value");
      }
      for (String bad :
          List.of("Bearer firs", "Bearer first2", "Basic first", "first", "Bearer ")) {
        assertThat(authorized(wire, bad).status()).as(bad).isEqualTo(401);
      }
    }
  }

  @Test
  void tokensAreReadAgain() throws IOException {
    serving.tokens = Files.writeString(folder.resolve("tokens"), "first\n");
    serving.start();
    String refused = "bsdb_file_reload_refused{file=\"tokens\"}";
    try (Wire wire = serving.connect()) {
      assertThat(authorized(wire, "Bearer first").status()).isEqualTo(200);
      Files.writeString(serving.tokens, "second\n");
      assertThat(authorized(wire, "Bearer second").status()).isEqualTo(401);
      serving.reloadFiles();
      assertThat(authorized(wire, "Bearer second").status()).isEqualTo(200);
      assertThat(authorized(wire, "Bearer first").status()).isEqualTo(401);
      assertThat(serving.metric(refused)).isZero();
      for (String bad : List.of("", "two words\n")) {
        Files.writeString(serving.tokens, bad);
        serving.reloadFiles();
        assertThat(authorized(wire, "Bearer second").status()).isEqualTo(200);
        assertThat(serving.said()).contains("new tokens are rejected", "tokens: ");
        assertThat(serving.metric(refused)).isEqualTo(1);
      }
      Files.delete(serving.tokens);
      serving.reloadFiles();
      assertThat(authorized(wire, "Bearer second").status()).isEqualTo(200);
      Files.writeString(serving.tokens, "third\n");
      serving.reloadFiles();
      assertThat(authorized(wire, "Bearer third").status()).isEqualTo(200);
      assertThat(serving.metric(refused)).isZero();
    }
  }

  @Test
  void whereThereIsNothingToReloadThatIsSaid() throws IOException {
    serving.start();
    serving.reloadFiles();
    assertThat(serving.said()).contains("nothing to reload");
  }

  private static Response authorized(Wire wire, String value) throws IOException {
    return wire.send("GET /bsdb/k HTTP/1.1\r\nHost: x\r\nAuthorization: " + value + "\r\n\r\n")
        .read();
  }

  @Test
  void filesThatHoldNoTokensAreRefused() throws IOException {
    for (String content : List.of("", "\n \n", "two words\n", "t\u00f6ken\n")) {
      serving.tokens = Files.writeString(folder.resolve("tokens"), content);
      assertThatThrownBy(() -> serving.start()).hasMessageContaining("token");
    }
  }

  @Test
  void encryptedConnectionsAreServed() throws Exception {
    serving.tls = certificate();
    serving.start();
    try (Wire wire = new Wire(trusting())) {
      for (int i = 0; i < 3; i++) {
        assertThat(wire.get("/bsdb/k").text()).isEqualTo("value");
      }
      assertThat(wire.send("GET /bsdb/k HTTP/1.1\r\n\r\n").read().status()).isEqualTo(400);
      assertThat(wire.ended()).isTrue();
    }
    try (Wire plain = serving.connect()) {
      plain.send("GET /bsdb/k HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(new String(plain.rest(), UTF_8)).doesNotContain("value");
    }
    assertThatThrownBy(
            () ->
                new Wire(
                        SSLContext.getDefault()
                            .getSocketFactory()
                            .createSocket(InetAddress.getLoopbackAddress(), serving.port()))
                    .get("/bsdb/k"))
        .isInstanceOf(SSLHandshakeException.class);
  }

  @Test
  void pipelinedRequestsAreAnsweredInOrderOverTls() throws Exception {
    int[] lengths = {1, 4096, 4097, 40_000, 65_000};
    Map<String, String> records = new TreeMap<>();
    for (int length : lengths) {
      records.put("k" + length, "v".repeat(length));
    }
    serving.directory = Serving.build(folder.resolve("lengths"), records);
    serving.tls = certificate();
    serving.start();
    try (Wire wire = new Wire(trusting())) {
      for (int round = 0; round < 5; round++) {
        StringBuilder requests = new StringBuilder();
        for (int length : lengths) {
          requests.append("GET /bsdb/k" + length + " HTTP/1.1\r\nHost: x\r\n\r\n");
          requests.append("GET /bsdb/absent HTTP/1.1\r\nHost: x\r\n\r\n");
        }
        wire.send(requests.toString());
        for (int length : lengths) {
          assertThat(wire.read().text()).isEqualTo("v".repeat(length));
          assertThat(wire.read().status()).isEqualTo(404);
        }
        assertThat(wire.get("/bsdb/k%31").text()).isEqualTo("v");
      }
      assertThat(serving.metric("bsdb_lookup_hits_total")).isEqualTo(30);
    }
  }

  private SSLSocket trusting() throws Exception {
    SSLContext trusting = SSLContext.getInstance("TLS");
    trusting.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
    return (SSLSocket)
        trusting.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), serving.port());
  }

  /** The serial number of the certificate that a new connection is shown. */
  private BigInteger shown() throws Exception {
    try (SSLSocket socket = trusting()) {
      socket.startHandshake();
      return ((X509Certificate) socket.getSession().getPeerCertificates()[0]).getSerialNumber();
    }
  }

  @Test
  void theCertificateIsReadAgain() throws Exception {
    serving.tls = certificate();
    serving.start();
    String refused = "bsdb_file_reload_refused{file=\"certificate\"}";
    BigInteger first = shown();
    try (Wire before = new Wire(trusting())) {
      assertThat(before.get("/bsdb/k").text()).isEqualTo("value");
      TlsFiles next = certificate();
      assertThat(shown()).isEqualTo(first);
      serving.reloadFiles();
      BigInteger second = shown();
      assertThat(second).isNotEqualTo(first);
      assertThat(serving.metric(refused)).isZero();
      byte[] key = Files.readAllBytes(next.key());
      for (String bad :
          List.of("", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----")) {
        Files.writeString(next.key(), bad);
        serving.reloadFiles();
        assertThat(shown()).isEqualTo(second);
        assertThat(serving.said()).contains("certificate or key is rejected", "key.pem");
        assertThat(serving.metric(refused)).isEqualTo(1);
      }
      Files.write(next.key(), key);
      serving.reloadFiles();
      assertThat(serving.metric(refused)).isZero();
      assertThat(before.get("/bsdb/k").text()).as("on the old connection").isEqualTo("value");
    }
    assertThat(serving.metric("bsdb_tls_certificate_expiry_seconds"))
        .isBetween(89.0 * 86_400, 90.0 * 86_400); // keytool's default
    assertThat(serving.said()).doesNotContain("warning");
  }

  @Tag("nightly")
  @Test
  void aCertificateThatIsNotValidForLongIsWarnedOf() throws Exception {
    serving.tls = certificate("-validity", "10");
    serving.start();
    assertThat(serving.said()).contains("warning: ", "certificate.pem expires at ", "in 9 days");
    certificate("-startdate", "-20d", "-validity", "10");
    serving.reloadFiles();
    assertThat(serving.said()).contains("certificate.pem expired at ");
    assertThat(serving.metric("bsdb_tls_certificate_expiry_seconds"))
        .isBetween(-11.0 * 86_400, -9.0 * 86_400);
    certificate("-startdate", "+5d", "-validity", "90");
    serving.reloadFiles();
    assertThat(serving.said()).contains("certificate.pem is not valid before ");
  }

  private TlsFiles certificate() throws Exception {
    return certificate("-validity", "90");
  }

  /** Made by the JDK's keytool, so that nothing secret is in the tree. */
  private TlsFiles certificate(String... validity) throws Exception {
    Path store = folder.resolve("keys.p12");
    Files.deleteIfExists(store);
    List<String> line = new ArrayList<>();
    line.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    line.addAll(List.of("-genkeypair", "-alias", "server", "-keyalg", "EC"));
    line.addAll(List.of("-dname", "CN=localhost", "-storepass", "secret"));
    line.addAll(List.of("-keystore", store.toString(), "-storetype", "PKCS12"));
    line.addAll(List.of(validity));
    Process keytool = new ProcessBuilder(line).redirectErrorStream(true).start();
    String said = new String(keytool.getInputStream().readAllBytes(), UTF_8);
    assertThat(keytool.waitFor()).as(said).isZero();
    var keys = java.security.KeyStore.getInstance(store.toFile(), "secret".toCharArray());
    var encoder = java.util.Base64.getMimeEncoder(64, new byte[] {'\n'});
    Path certificate =
        Files.writeString(
            folder.resolve("certificate.pem"),
            "-----BEGIN CERTIFICATE-----\n"
                + encoder.encodeToString(keys.getCertificate("server").getEncoded())
                + "\n-----END CERTIFICATE-----\n");
    Path key =
        Files.writeString(
            folder.resolve("key.pem"),
            "-----BEGIN PRIVATE KEY-----\n"
                + encoder.encodeToString(keys.getKey("server", "secret".toCharArray()).getEncoded())
                + "\n-----END PRIVATE KEY-----\n");
    return new TlsFiles(certificate, key);
  }

  @Tag("nightly")
  @Test
  void aKeyOfAnotherCertificateIsRefused() throws Exception {
    TlsFiles files = certificate();
    for (String algorithm : List.of("EC", "RSA", "Ed25519")) {
      KeyPair pair = KeyPairGenerator.getInstance(algorithm).generateKeyPair();
      String other = Base64.getMimeEncoder().encodeToString(pair.getPrivate().getEncoded());
      Files.writeString(
          files.key(), "-----BEGIN PRIVATE KEY-----\n" + other + "\n-----END PRIVATE KEY-----\n");
      serving.tls = files;
      assertThatThrownBy(() -> serving.start())
          .hasMessageContaining("key.pem")
          .hasMessageContaining("does not belong to the certificate");
    }
  }

  @Test
  void directoriesInThePlaceOfFilesAreNamed() {
    serving.tokens = folder;
    assertThatThrownBy(() -> serving.start()).hasMessageContaining(folder.toString());
    serving.tokens = null;
    serving.tls = new TlsFiles(folder, folder);
    assertThatThrownBy(() -> serving.start()).hasMessageContaining(folder.toString());
  }

  @Test
  void filesThatAreNoCertificateAreNamed() throws IOException {
    Path nothing = Files.writeString(folder.resolve("nothing.pem"), "nothing\n");
    serving.tls = new TlsFiles(nothing, nothing);
    assertThatThrownBy(() -> serving.start())
        .hasMessageContaining("nothing.pem")
        .hasMessageContaining("certificate");
  }

  @Test
  void requestsAreLogged() throws IOException {
    Path log = folder.resolve("access.log");
    serving.accessLog = log.toString();
    serving.start();
    try (Wire wire = serving.connect()) {
      wire.get("/bsdb/k");
      wire.get("/bsdb/%22\u00ff?x=\"");
    }
    serving.close();
    assertThat(Files.readAllLines(log))
        .satisfiesExactly(
            line ->
                assertThat(line).matches("\\S+Z 127.0.0.1 \"GET /bsdb/k HTTP/1.1\" 200 5 [0-9]+"),
            line -> assertThat(line).contains(" \"GET /bsdb/%22\\xff?x=\\x22 HTTP/1.1\" 404 "));
  }

  /** Also without OpenTelemetry. */
  @Test
  void theAccessLogHasTheTraceOfRequests() throws IOException {
    Path log = folder.resolve("access.log");
    serving.accessLog = log.toString();
    serving.start();
    String trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    try (Wire wire = serving.connect()) {
      for (String parent : List.of("00-" + trace + "-00f067aa0ba902b7-00", "00-" + trace, "")) {
        String header = parent.isEmpty() ? "" : "TraceParent: " + parent + "\r\n";
        wire.send("GET /bsdb/k HTTP/1.1\r\nHost: x\r\n" + header + "\r\n").read();
      }
    }
    serving.close();
    assertThat(Files.readAllLines(log))
        .satisfiesExactly(
            line -> assertThat(line).matches(".*\" 200 5 [0-9]+ trace_id=" + trace),
            line -> assertThat(line).matches(".*\" 200 5 [0-9]+"),
            line -> assertThat(line).matches(".*\" 200 5 [0-9]+"));
  }

  @Test
  void theAccessLogIsOpenedAnew() throws IOException {
    Path logs = Files.createDirectory(folder.resolve("logs"));
    Path log = logs.resolve("access.log");
    serving.accessLog = log.toString();
    serving.start();
    String refused = "bsdb_file_reload_refused{file=\"access_log\"}";
    try (Wire wire = serving.connect()) {
      wire.get("/bsdb/before");
      awaitLines(log, "/bsdb/before");
      Path moved = Files.move(log, logs.resolve("access.log.1"));
      serving.reloadFiles();
      wire.get("/bsdb/after");
      awaitLines(log, "/bsdb/after");
      assertThat(moved).content().contains("/bsdb/before").doesNotContain("/bsdb/after");
      assertThat(log).content().doesNotContain("/bsdb/before");
      Path gone = Files.move(logs, folder.resolve("gone"));
      serving.reloadFiles();
      assertThat(serving.said()).contains("access log cannot be reopened", log.toString());
      assertThat(serving.metric(refused)).isEqualTo(1);
      wire.get("/bsdb/still");
      awaitLines(gone.resolve("access.log"), "/bsdb/still");
      Files.createDirectory(logs);
      serving.reloadFiles();
      wire.get("/bsdb/again");
      awaitLines(log, "/bsdb/again");
      assertThat(serving.metric(refused)).isZero();
      assertThat(serving.metric("bsdb_access_log_failed_total")).isZero();
    }
  }

  private static void awaitLines(Path log, String path) throws IOException {
    while (!Files.exists(log) || !Files.readString(log).contains(path)) {
      Serving.pause();
    }
  }

  @Test
  void whatTheAccessLogLosesIsCountedAndSaidOnce() throws IOException {
    Path full = Path.of("/dev/full");
    assumeTrue(Files.exists(full), "no /dev/full here");
    Path log = Files.createSymbolicLink(folder.resolve("access.log"), full);
    serving.accessLog = log.toString();
    serving.start();
    try (Wire wire = serving.connect()) {
      for (int lost = 1; lost <= 3; lost++) {
        wire.get("/bsdb/lost");
        while (serving.metric("bsdb_access_log_failed_total") < lost) {
          Serving.pause();
        }
      }
      assertThat(serving.said()).containsOnlyOnce("the access log cannot be written");
      Files.delete(log);
      wire.get("/bsdb/kept");
      awaitLines(log, "/bsdb/kept");
      while (!serving.said().contains("the access log is being written again")) {
        Serving.pause();
      }
      assertThat(Files.readAllLines(log)).hasSize(1);
      assertThat(serving.metric("bsdb_access_log_failed_total")).isEqualTo(3);
      assertThat(serving.metric("bsdb_access_log_dropped_total")).isZero();
    }
  }

  @Test
  void atTheEndWhatIsInFlightIsAnsweredWhole() throws Exception {
    serving.close();
    serving = new Serving(Serving.build(folder.resolve("big"), Map.of("k", "v".repeat(30 << 20))));
    serving.start();
    try (Wire busy = serving.connect();
        Wire idle = serving.connect();
        Wire half = serving.connect()) {
      idle.get("/healthz");
      half.send("GET /bsdb/k HTTP/1.1\r\n");
      busy.send("GET /bsdb/k HTTP/1.1\r\nHost: x\r\n\r\n");
      while (serving.metric("bsdb_http_requests_total{status=\"200\"}") < 2) {
        Serving.pause();
      }
      Thread ending = new Thread(serving::close);
      ending.start();
      assertThat(idle.ended()).isTrue();
      half.send("Host: x\r\n\r\n");
      assertThat(half.read().body()).hasSize(30 << 20);
      assertThat(busy.read().body()).hasSize(30 << 20);
      ending.join();
      assertThatThrownBy(() -> serving.connect()).isInstanceOf(IOException.class);
    }
  }
}
