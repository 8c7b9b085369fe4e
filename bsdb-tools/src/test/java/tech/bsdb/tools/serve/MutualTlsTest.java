package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.SslOptions;
import redis.clients.jedis.exceptions.JedisAccessControlException;
import tech.bsdb.tools.CommandRun;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.serve.client.Credentials;
import tech.bsdb.tools.serve.client.Credentials.TlsFiles;

/** Certificates of clients, in real handshakes. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MutualTlsTest {
  @TempDir Path folder;
  private SignedCertificate authority;
  private Path authorities;
  private Serving serving;

  @BeforeEach
  void prepare() throws Exception {
    authority = SignedCertificate.authority("authority");
    authorities = authority.writeCertificate(folder.resolve("ca.pem"));
    serving = new Serving(Serving.build(folder.resolve("db"), Map.of("k", "value")));
    serving.resp = true;
  }

  @AfterEach
  void end() {
    serving.close();
  }

  private void start(boolean optional, String... tokens) throws Exception {
    SignedCertificate own = authority.server();
    Path certificate = own.writeCertificate(folder.resolve("certificate.pem"));
    Path key = own.writeKey(folder.resolve("key.pem"));
    serving.tls = new TlsFiles(certificate, key, authorities, optional);
    serving.tokens = tokens.length == 0 ? null : folder.resolve("tokens");
    if (tokens.length > 0) {
      Files.write(folder.resolve("tokens"), List.of(tokens));
    }
    serving.start();
  }

  private SSLContext showing(@Nullable SignedCertificate shown) throws Exception {
    return SignedCertificate.client(authority, shown);
  }

  private Socket open(@Nullable SignedCertificate shown, int port) throws Exception {
    SSLSocket socket =
        (SSLSocket)
            showing(shown).getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), port);
    socket.startHandshake();
    return socket;
  }

  private Wire http(@Nullable SignedCertificate shown) throws Exception {
    return new Wire(open(shown, serving.port()));
  }

  private RespWire redis(@Nullable SignedCertificate shown) throws Exception {
    return new RespWire(open(shown, serving.respPort()));
  }

  private void awaitSaid(String text) {
    while (!serving.said().contains(text)) {
      Serving.pause();
    }
  }

  @Test
  void clientsShowACertificateOfTheAuthority() throws Exception {
    start(false);
    SignedCertificate client = authority.client("reports");
    HttpClient http = HttpClient.newBuilder().sslContext(showing(client)).build();
    URI uri = URI.create("https://127.0.0.1:" + serving.port() + "/bsdb/k");
    HttpResponse<String> answer =
        http.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString(UTF_8));
    assertThat(answer.body()).isEqualTo("value");
    try (RespWire wire = redis(client)) {
      assertThat(wire.ask("ECHO", "a".repeat(20_000))).as("not a stranger").hasSize(20_010);
      assertThat(wire.ask("GET", "k")).isEqualTo("$5\r\nvalue\r\n");
    }
    new Socket(InetAddress.getLoopbackAddress(), serving.port()).close(); // as a probe does
    HttpClient without = HttpClient.newBuilder().sslContext(showing(null)).build();
    assertThatThrownBy(
            () -> without.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.discarding()))
        .isInstanceOf(IOException.class);
    awaitSaid("TLS handshake with 127.0.0.1: the client has shown no certificate\n");
    assertThat(serving.said().lines()).hasSize(1);
  }

  @Test
  void certificatesOfOthersAreRefused() throws Exception {
    assertRefused("foreign");
  }

  @Test
  void expiredCertificatesAreRefusedWhereNoneIsNeeded() throws Exception {
    assertRefused("expired where it is optional");
  }

  @Tag("nightly")
  @ParameterizedTest
  @ValueSource(strings = {"expired", "early"})
  void certificatesThatAreNotValidNowAreRefused(String kind) throws Exception {
    assertRefused(kind);
  }

  private void assertRefused(String kind) throws Exception {
    Instant now = Instant.now();
    boolean early = kind.equals("early");
    SignedCertificate shown =
        kind.equals("foreign")
            ? SignedCertificate.authority("authority").client("reports")
            : authority.client(
                "CN=reports", now.plus(Duration.ofDays(early ? 99 : -1)), "a.host", "urn:a");
    boolean optional = kind.contains("optional");
    start(optional, optional ? new String[] {"secret"} : new String[0]);
    String why =
        early
            ? "is not valid yet"
            : kind.equals("foreign")
                ? "no authority of --tls-client-ca has signed the certificate"
                : "the certificate of the client has expired (NotAfter: ";
    assertThatThrownBy(
            () -> {
              try (Wire wire = http(shown)) {
                wire.get("/bsdb/k"); // with TLS 1.3, the client has ended its handshake before
              }
            })
        .isInstanceOf(IOException.class);
    awaitSaid(why);
    assertThatThrownBy(
            () -> {
              try (RespWire wire = redis(shown)) {
                wire.ask("PING");
              }
            })
        .isInstanceOf(IOException.class);
  }

  @Test
  void namesInCertificatesHaveScopes() throws Exception {
    serving.accessLog = folder.resolve("access.log").toString();
    start(
        true,
        "all",
        "- cert=a,b name=odd",
        "reader-token cert=reports.host name=reports allow=get",
        "- cert=urn:monitor name=monitor allow=metrics",
        "- cert=admin");
    SignedCertificate reports = authority.client("reports");
    SignedCertificate monitor = authority.client("monitor");
    SignedCertificate other = authority.client("O=\"x,CN=admin\"", later(), "o.host", "urn:o");
    try (Wire wire = http(reports)) {
      for (int i = 0; i < 3; i++) {
        assertThat(wire.get("/bsdb/k").text()).isEqualTo("value");
      }
      assertThat(wire.get("/metrics").status()).isEqualTo(403);
    }
    try (Wire wire = http(monitor)) {
      assertThat(wire.get("/bsdb/k").status()).isEqualTo(403);
      assertThat(wire.get("/stats").status()).isEqualTo(200);
    }
    try (Wire wire = http(other)) {
      assertThat(wire.get("/bsdb/k").status()).isEqualTo(401);
      assertThat(authorized(wire, "all")).isEqualTo(200);
    }
    try (Wire wire = http(null)) {
      assertThat(wire.get("/healthz").status()).isEqualTo(200);
      assertThat(wire.get("/bsdb/k").status()).isEqualTo(401);
      assertThat(authorized(wire, "reader-token")).isEqualTo(200);
      assertThat(authorized(wire, "-")).isEqualTo(401);
    }
    try (RespWire wire = redis(monitor)) {
      assertThat(wire.ask("ACL", "WHOAMI")).isEqualTo("$7\r\nmonitor\r\n");
      assertThat(wire.ask("GET", "k")).startsWith("-NOPERM ");
      assertThat(wire.ask("AUTH", "all")).isEqualTo("+OK\r\n");
      assertThat(wire.ask("GET", "k")).isEqualTo("$5\r\nvalue\r\n");
      assertThat(wire.ask("RESET")).isEqualTo("+RESET\r\n");
      assertThat(wire.ask("GET", "k")).startsWith("-NOPERM ");
    }
    try (RespWire wire = redis(null)) {
      assertThat(wire.ask("GET", "k")).startsWith("-NOAUTH ");
    }
    File store = SignedCertificate.writeStore(folder.resolve("p12"), authority, reports).toFile();
    char[] password = SignedCertificate.PASSWORD.toCharArray();
    SslOptions.Builder tls = SslOptions.builder().keyStoreType("PKCS12").trustStoreType("PKCS12");
    tls.keystore(store, password).truststore(store, password);
    try (var jedis =
        redis.clients.jedis.RedisClient.builder()
            .hostAndPort("127.0.0.1", serving.respPort())
            .clientConfig(DefaultJedisClientConfig.builder().sslOptions(tls.build()).build())
            .build()) {
      assertThat(jedis.get("k")).isEqualTo("value");
      assertThatThrownBy(() -> jedis.scan("0")).isInstanceOf(JedisAccessControlException.class);
    }
    serving.close();
    assertThat(Files.readAllLines(folder.resolve("access.log")))
        .element(0)
        .asString()
        .endsWith(" reports");
  }

  private static Instant later() {
    return Instant.now().plus(Duration.ofDays(1));
  }

  private static int authorized(Wire wire, String token) throws IOException {
    String head = "GET /bsdb/k HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token;
    return wire.send(head + "\r\n\r\n").read().status();
  }

  @Test
  void authoritiesAndNamesAreReadAgain() throws Exception {
    start(false, "- cert=reports", "token");
    SignedCertificate reports = authority.client("reports");
    SignedCertificate second = SignedCertificate.authority("second");
    try (Wire wire = http(reports);
        RespWire redis = redis(reports)) {
      assertThat(wire.get("/bsdb/k").status()).isEqualTo(200);
      assertThat(redis.ask("GET", "k")).isEqualTo("$5\r\nvalue\r\n");
      String certificates = Files.readString(authorities);
      Files.writeString(authorities, "nothing\n");
      serving.reloadFiles();
      assertThat(serving.said()).contains("certificate or key is rejected", "ca.pem");
      http(reports).close();
      second.writeCertificate(authorities);
      Files.writeString(authorities, Files.readString(authorities) + certificates);
      Files.writeString(folder.resolve("tokens"), "- cert=other.host\ntoken\n");
      serving.reloadFiles();
      assertThat(wire.get("/bsdb/k").status()).isEqualTo(401);
      assertThat(redis.ask("GET", "k")).startsWith("-NOAUTH ");
      try (Wire other = http(second.client("other"))) {
        assertThat(other.get("/bsdb/k").status()).isEqualTo(200);
      }
      Files.writeString(authorities, "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n");
      serving.reloadFiles();
      second.writeCertificate(authorities);
      serving.reloadFiles();
      assertThatThrownBy(() -> http(reports).get("/bsdb/k")).isInstanceOf(IOException.class);
      awaitSaid("the client has shown no certificate"); // it has none of the new authority
    }
  }

  /** It may have been given so that whoever uses the connection does less than its owner. */
  @Test
  void theCertificateDoesNotStandForATokenThatWasRemoved() throws Exception {
    start(false, "- cert=reports", "token allow=get");
    try (RespWire redis = redis(authority.client("reports"))) {
      assertThat(redis.ask("AUTH", "token")).isEqualTo("+OK\r\n");
      for (int i = 0; i < 2; i++) {
        Files.writeString(folder.resolve("tokens"), "- cert=reports\n");
        serving.reloadFiles();
        assertThat(redis.ask("DBSIZE")).startsWith("-NOAUTH ");
      }
      assertThat(redis.ask("RESET")).isEqualTo("+RESET\r\n");
      assertThat(redis.ask("DBSIZE")).isEqualTo(":1\r\n");
    }
  }

  /**
   * Java resumes a session with a certificate that has expired, as long as there is its context.
   */
  @Test
  void sessionsAreResumedForAMinuteIfClientsShowCertificates() throws Exception {
    start(true, "secret");
    TlsFiles both = serving.tls;
    Console console =
        new Console(
            InputStream.nullInputStream(),
            new ByteArrayOutputStream(),
            new ByteArrayOutputStream(),
            false);
    long now = System.nanoTime();
    for (boolean verifying : new boolean[] {true, false}) {
      TlsFiles files = verifying ? both : new TlsFiles(both.certificate(), both.key());
      Credentials credentials = new Credentials(null, files, console);
      var first = credentials.tls(now);
      assertThat(credentials.tls(now + 50_000_000_000L)).isSameAs(first);
      var second = credentials.tls(now + 70_000_000_000L);
      assertThat(second == first).isEqualTo(!verifying);
      assertThat(credentials.tls(now + 120_000_000_000L)).isSameAs(second);
    }
  }

  @Test
  void optionsAndSettingsThatNeedOthersSaySo() throws Exception {
    Path tokens = Files.writeString(folder.resolve("bad"), "- cert=a\n");
    String file = authorities.toString();
    for (List<String> line :
        List.of(
            List.of("--tls-client-ca needs TLS", "--tls-client-ca", file),
            List.of("add --tls-client-ca", "--tls-client-optional"),
            List.of(
                "would let everybody in",
                "--tls-client-ca",
                file,
                "--tls-client-optional",
                "--tls-cert",
                file,
                "--tls-key",
                file),
            List.of("bad: cert= needs --tls-client-ca", "--token-file", tokens.toString()))) {
      List<String> words = new ArrayList<>(List.of("serve", "-d", serving.directory.toString()));
      words.addAll(line.subList(1, line.size()));
      CommandRun run = CommandRun.bsdb(words.toArray(new String[0]));
      assertThat(run.code()).as(run.toString()).isEqualTo(2);
      assertThat(run.err()).contains(line.get(0));
    }
  }
}
