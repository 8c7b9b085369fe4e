package tech.bsdb.tools.serve;

import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.Console;

/**
 * The certificate, key and tokens in use, which can be read again while the service runs: what is
 * bad then is refused, and the one before stays. Thread-safe.
 */
final class Credentials {
  /** A certificate that expires sooner is warned of. */
  private static final Duration SOON = Duration.ofDays(30);

  private final ServeOptions options;
  private final Console console;
  private volatile @Nullable Tokens tokens;
  private volatile @Nullable Certificates certificates;
  private volatile boolean tokensRefused;
  private volatile boolean certificatesRefused;

  /**
   * Reads what the options name.
   *
   * @throws IOException if a file cannot be used, with its name and what it should hold
   */
  Credentials(ServeOptions options, Console console) throws IOException {
    this.options = options;
    this.console = console;
    this.tokens = options.tokens() == null ? null : Tokens.read(options.tokens());
    this.certificates = options.tls() == null ? null : Certificates.load(options.tls());
    warn(Instant.now());
  }

  /** Whether the value of an {@code Authorization} header opens the service. */
  boolean admit(@Nullable String authorization) {
    Tokens known = tokens;
    return known == null || known.admit(authorization);
  }

  /** What encrypts connections from now on; null for plain HTTP. */
  @Nullable SslContext tls() {
    Certificates known = certificates;
    return known == null ? null : known.context();
  }

  /** When the first certificate of the chain expires; null for plain HTTP. */
  @Nullable Instant expires() {
    Certificates known = certificates;
    return known == null ? null : known.notAfter();
  }

  /** Whether the certificate or its key was refused when it was last read again. */
  boolean certificatesRefused() {
    return certificatesRefused;
  }

  /** Whether the tokens were refused when they were last read again. */
  boolean tokensRefused() {
    return tokensRefused;
  }

  /** Reads the files again. New connections have the new certificate, new requests the tokens. */
  synchronized void reload() {
    if (options.tokens() != null) {
      try {
        tokens = Tokens.read(options.tokens());
        tokensRefused = false;
        console.say("bsdb serve: the tokens of " + options.tokens() + " are in use");
      } catch (IOException | RuntimeException e) {
        tokensRefused = true;
        console.say(
            "bsdb serve: new tokens are refused, those before stay in use: " + e.getMessage());
      }
    }
    if (options.tls() != null) {
      try {
        certificates = Certificates.load(options.tls());
        certificatesRefused = false;
        console.say("bsdb serve: the certificate of " + options.tls().certificate() + " is in use");
      } catch (IOException | RuntimeException e) {
        certificatesRefused = true;
        console.say(
            "bsdb serve: a new certificate or key is refused, the one before stays in use: "
                + e.getMessage());
      }
      warn(Instant.now());
    }
  }

  /** Says if the certificate in use is not valid, or not for long. */
  void warn(Instant now) {
    Certificates known = certificates;
    if (known == null || options.tls() == null) {
      return;
    }
    String which = "bsdb serve: warning: the certificate of " + options.tls().certificate();
    if (known.notAfter().isBefore(now)) {
      console.say(which + " expired at " + known.notAfter() + "; clients refuse it");
    } else if (known.notBefore().isAfter(now)) {
      console.say(which + " is not valid before " + known.notBefore() + "; clients refuse it");
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
