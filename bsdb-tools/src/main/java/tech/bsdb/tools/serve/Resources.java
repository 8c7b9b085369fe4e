package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

/** The static files of the service, stored beside its classes. */
final class Resources {
  private Resources() {}

  /** Returns the text of a file. */
  static String text(String name) {
    try (InputStream in = Resources.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("the jar has no " + name);
      }
      return new String(in.readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns a policy that allows only a page's own script and style. */
  static String contentSecurityPolicy(String page) {
    return "default-src 'none'; script-src "
        + hash(page, "<script>", "</script>")
        + "; style-src "
        + hash(page, "<style>", "</style>")
        + "; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none';"
        + " frame-ancestors 'none'";
  }

  private static String hash(String page, String begin, String end) {
    int from = page.indexOf(begin) + begin.length();
    String element = page.substring(from, page.indexOf(end, from));
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(element.getBytes(UTF_8));
      return "'sha256-" + Base64.getEncoder().encodeToString(digest) + "'";
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
