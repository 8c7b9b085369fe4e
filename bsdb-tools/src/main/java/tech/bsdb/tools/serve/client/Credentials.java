package tech.bsdb.tools.serve.client;

import io.netty.channel.Channel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.Diagnosis;

/**
 * The certificate, key and tokens in use. They can be reloaded while the service runs; a bad file
 * is rejected and the previous one stays in use. Thread-safe.
 */
public final class Credentials {
  /** A certificate that expires sooner causes a warning. */
  private static final Duration SOON = Duration.ofDays(30);

  private final @Nullable Path tokenFile;
  private final @Nullable TlsFiles tlsFiles;
  private final Console console;
  private final FailureReports handshakes;
  private volatile @Nullable Tokens tokens;
  private volatile @Nullable Certificates certificates;
  private final AtomicLong tokensRead = new AtomicLong();
  private final Map<String, Boolean> refused =
      new ConcurrentHashMap<>(Map.of("certificate", false, "tokens", false));

  /**
   * The files of the certificate chain and its private key, all PEM.
   *
   * @param certificate the certificate followed by its chain
   * @param key the key, unencrypted PKCS#8
   * @param clientAuthorities the certificates of those who sign the certificates of clients; null
   *     if clients show none
   * @param clientsMayLackOne whether a client may connect without a certificate
   */
  public record TlsFiles(
      Path certificate, Path key, @Nullable Path clientAuthorities, boolean clientsMayLackOne) {
    /** The files of a server whose clients show no certificates. */
    public TlsFiles(Path certificate, Path key) {
      this(certificate, key, null, false);
    }
  }

  /**
   * Reads the files.
   *
   * @param tokenFile the file of bearer tokens, null for none
   * @param tlsFiles certificate and key, null for connections that are not encrypted
   * @throws IOException if a file is unusable, with its name and what it should contain
   */
  public Credentials(@Nullable Path tokenFile, @Nullable TlsFiles tlsFiles, Console console)
      throws IOException {
    this.tokenFile = tokenFile;
    this.tlsFiles = tlsFiles;
    this.console = console;
    this.handshakes = new FailureReports(console);
    this.tokens = tokenFile == null ? null : readTokens(tokenFile);
    this.certificates = tlsFiles == null ? null : Certificates.load(tlsFiles);
    warn(Instant.now());
  }

  private Tokens readTokens(Path file) throws IOException {
    Tokens read = Tokens.read(file);
    if (!read.certificates().isEmpty()
        && (tlsFiles == null || tlsFiles.clientAuthorities() == null)) {
      throw new FileSystemException(
          file.toString(), null, "cert= needs --tls-client-ca, to verify certificates with");
    }
    return read;
  }

  /**
   * Returns what an {@code Authorization} header's value grants, or the client's certificate if
   * there is no header; null if that is nothing.
   *
   * @param certificate the names in the certificate
   */
  public @Nullable Scope ofHeader(@Nullable String authorization, List<String> certificate) {
    Tokens known = tokens;
    return known == null
        ? Scope.ALL
        : authorization == null ? known.ofCertificate(certificate) : known.ofHeader(authorization);
  }

  /** Returns what clients without a token may learn from what needs none. */
  public Scope ofStrangers() {
    Tokens known = tokens;
    return known != null && known.limitSets() ? Scope.NONE : Scope.ALL;
  }

  /** Whether clients need a token. */
  public boolean needsToken() {
    return tokens != null;
  }

  /**
   * Returns what a token grants, or the client's certificate if there is no token; null if that is
   * nothing.
   *
   * @param certificate the names in the certificate
   */
  public @Nullable Scope ofToken(@Nullable String token, List<String> certificate) {
    Tokens known = tokens;
    return known == null
        ? Scope.ALL
        : token == null ? known.ofCertificate(certificate) : known.of(token);
  }

  /**
   * Returns how often the tokens have been reloaded, so that those of open sessions are checked.
   */
  public long tokensRead() {
    return tokensRead.get();
  }

  /** Returns the TLS context for new connections; null for plain HTTP. */
  public @Nullable SslContext tls() {
    return tls(System.nanoTime());
  }

  /** Returns the TLS context for connections that are accepted at a time. */
  public @Nullable SslContext tls(long nanos) {
    Certificates known = certificates;
    return known == null ? null : known.contexts().at(nanos);
  }

  /** Encrypts a connection that was just accepted, if clients need that. */
  public void secure(Channel accepted) {
    SslContext context = tls();
    if (context != null) {
      SslHandler handler = context.newHandler(accepted.alloc());
      if (handler.engine().getWantClientAuth() || handler.engine().getNeedClientAuth()) {
        var unused = handler.handshakeFuture().addListener(done -> report(accepted, done.cause()));
      }
      accepted.pipeline().addLast(handler);
    }
  }

  /** Reports a handshake that has failed, unless the client has just gone. */
  private void report(Channel client, @Nullable Throwable failure) {
    if (failure instanceof SSLHandshakeException
        && !String.valueOf(failure.getMessage()).startsWith("Connection closed")) {
      String from =
          client.remoteAddress() instanceof InetSocketAddress address
              ? address.getAddress().getHostAddress()
              : "-";
      handshakes.report("TLS handshake with " + from + ": " + ClientCertificate.failure(failure));
    }
  }

  /** Returns when the first certificate of the chain expires; null for plain HTTP. */
  public @Nullable Instant expires() {
    Certificates known = certificates;
    return known == null ? null : known.notAfter();
  }

  /** Whether the last reload of the {@code certificate} and key, and the {@code tokens} failed. */
  public Map<String, Boolean> refused() {
    return Map.copyOf(refused);
  }

  /** Reloads the files. New connections use the new certificate, new requests the new tokens. */
  public synchronized void reload() {
    Path ofTokens = tokenFile;
    if (ofTokens != null) {
      reload(
          "tokens",
          () -> {
            tokens = readTokens(ofTokens);
            tokensRead.incrementAndGet();
          },
          "the tokens in " + ofTokens + " are in use",
          "the new tokens are rejected, the previous ones stay in use: ");
    }
    TlsFiles ofTls = tlsFiles;
    if (ofTls != null) {
      reload(
          "certificate",
          () -> certificates = Certificates.load(ofTls),
          "the certificate in " + ofTls.certificate() + " is in use",
          "the new certificate or key is rejected, the previous one stays in use: ");
      warn(Instant.now());
    }
  }

  private interface Reading {
    void run() throws IOException;
  }

  private void reload(String what, Reading reading, String done, String rejected) {
    try {
      reading.run();
      refused.put(what, false);
      console.say("bsdb serve: " + done);
    } catch (IOException | RuntimeException e) {
      refused.put(what, true);
      console.say("bsdb serve: " + rejected + Diagnosis.of(e).words());
    }
  }

  /** Warns if the certificate in use is invalid or expires soon. */
  public void warn(Instant now) {
    Certificates known = certificates;
    if (known == null || tlsFiles == null) {
      return;
    }
    String which = "bsdb serve: warning: the certificate in " + tlsFiles.certificate();
    if (known.notAfter().isBefore(now)) {
      console.say(which + " expired at " + known.notAfter() + "; clients reject it");
    } else if (known.notBefore().isAfter(now)) {
      console.say(which + " is not valid before " + known.notBefore() + "; clients reject it");
    } else if (known.notAfter().isBefore(now.plus(SOON))) {
      long days = Duration.between(now, known.notAfter()).toDays();
      console.say(
          which
              + " expires at "
              + known.notAfter()
              + ", in "
              + days
              + (days == 1 ? " day" : " days")
              + "; renew it, and reload it with: kill -HUP PID");
    }
  }
}
