package tech.bsdb.tools.serve;

import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.Console;

/**
 * The certificate, key and tokens in use. They can be reloaded while the service runs; a bad file
 * is rejected and the previous one stays in use. Thread-safe.
 */
final class Credentials {
  /** A certificate that expires sooner causes a warning. */
  private static final Duration SOON = Duration.ofDays(30);

  private final ServeOptions options;
  private final Console console;
  private volatile @Nullable Tokens tokens;
  private volatile @Nullable Certificates certificates;
  private volatile boolean tokensRefused;
  private volatile boolean certificatesRefused;

  /**
   * Reads the files named by the options.
   *
   * @throws IOException if a file is unusable, with its name and what it should contain
   */
  Credentials(ServeOptions options, Console console) throws IOException {
    this.options = options;
    this.console = console;
    this.tokens = options.tokens() == null ? null : Tokens.read(options.tokens());
    this.certificates = options.tls() == null ? null : Certificates.load(options.tls());
    warn(Instant.now());
  }

  /** Whether an {@code Authorization} header's value grants access. */
  boolean admit(@Nullable String authorization) {
    Tokens known = tokens;
    return known == null || known.admit(authorization);
  }

  /** Returns the TLS context for new connections; null for plain HTTP. */
  @Nullable SslContext tls() {
    Certificates known = certificates;
    return known == null ? null : known.context();
  }

  /** Returns when the first certificate of the chain expires; null for plain HTTP. */
  @Nullable Instant expires() {
    Certificates known = certificates;
    return known == null ? null : known.notAfter();
  }

  /** Whether the last reload of the certificate and key was rejected. */
  boolean certificatesRefused() {
    return certificatesRefused;
  }

  /** Whether the last reload of the tokens was rejected. */
  boolean tokensRefused() {
    return tokensRefused;
  }

  /** Reloads the files. New connections use the new certificate, new requests the new tokens. */
  synchronized void reload() {
    if (options.tokens() != null) {
      try {
        tokens = Tokens.read(options.tokens());
        tokensRefused = false;
        console.say("bsdb serve: the tokens in " + options.tokens() + " are in use");
      } catch (IOException | RuntimeException e) {
        tokensRefused = true;
        console.say(
            "bsdb serve: the new tokens are rejected, the previous ones stay in use: "
                + e.getMessage());
      }
    }
    if (options.tls() != null) {
      try {
        certificates = Certificates.load(options.tls());
        certificatesRefused = false;
        console.say("bsdb serve: the certificate in " + options.tls().certificate() + " is in use");
      } catch (IOException | RuntimeException e) {
        certificatesRefused = true;
        console.say(
            "bsdb serve: the new certificate or key is rejected, the previous one stays in use: "
                + e.getMessage());
      }
      warn(Instant.now());
    }
  }

  /** Warns if the certificate in use is invalid or expires soon. */
  void warn(Instant now) {
    Certificates known = certificates;
    if (known == null || options.tls() == null) {
      return;
    }
    String which = "bsdb serve: warning: the certificate in " + options.tls().certificate();
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
