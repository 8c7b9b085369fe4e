package tech.bsdb.tools.serve.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.SmallFile;

/**
 * The bearer tokens that grant access (RFC 6750), and the names in certificates that do, with the
 * scope of each. Only the digests of tokens are kept, and comparison takes constant time.
 *
 * @param certificates scopes by names in certificates
 */
record Tokens(List<Grant> grants, Map<String, Scope> certificates) {
  private static final int SCHEME = "Bearer ".length();
  private static final Set<String> SETTINGS = Set.of("name", "sets", "allow", "cert");

  /** In place of a token, if only a certificate grants the scope. */
  private static final String NO_TOKEN = "-";

  /**
   * What a token grants.
   *
   * @param digest that of the token
   */
  record Grant(byte[] digest, Scope scope) {}

  /**
   * Reads a file of tokens, one per line, each with settings of its scope behind it, if it has one;
   * blank lines are ignored.
   *
   * @throws FileSystemException if it has no token, or a malformed line
   */
  static Tokens read(Path file) throws IOException {
    Tokens read = new Tokens(new ArrayList<>(), new HashMap<>());
    int number = 0;
    byte[] bytes = SmallFile.read(file, "a file of tokens");
    try {
      String text = UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      for (String line : text.lines().toList()) {
        number++;
        String words = line.strip();
        if (!words.isEmpty()) {
          read.add(words.split("[ \t]+", -1));
        }
      }
    } catch (CharacterCodingException e) {
      throw new FileSystemException(
          file.toString(), null, "not a text file of tokens, one per line");
    } catch (IllegalArgumentException e) {
      throw new FileSystemException(
          file.toString(), null, "line " + number + ": " + e.getMessage());
    }
    if (read.grants.isEmpty() && read.certificates.isEmpty()) {
      throw new FileSystemException(
          file.toString(), null, "holds no token; write one per line, or leave --token-file out");
    }
    return read;
  }

  /** Adds what a line grants. Messages about it must not show a token, which any word may be. */
  private void add(String[] words) {
    Map<String, String> settings = new HashMap<>();
    for (int i = 0; i < words.length; i++) {
      if (!words[i].chars().allMatch(c -> c > ' ' && c < 127)) {
        throw new IllegalArgumentException("a token must have only visible ASCII characters");
      }
      String[] setting = words[i].split("=", 2);
      if (i > 0 && (setting.length < 2 || !SETTINGS.contains(setting[0]))) {
        throw new IllegalArgumentException(
            "word "
                + (i + 1)
                + " is none of the settings name=, sets=, allow= and cert=; write one token per line,"
                + " and its settings behind it");
      }
      if (i > 0 && settings.put(setting[0], setting[1]) != null) {
        throw new IllegalArgumentException(setting[0] + "= is given twice for one token");
      }
    }
    boolean setting = SETTINGS.contains(words[0].split("=", 2)[0]) && words[0].contains("=");
    if (words.length > 1 && (setting || words[0].startsWith("#"))) {
      throw new IllegalArgumentException(
          "begins with a setting or #, which others could guess as a token; write the token first,"
              + " or - if only a certificate counts, and delete lines that shall not count");
    }
    Scope scope = Scope.of(settings);
    String certificate = settings.get("cert");
    if (certificate != null
        && (certificate.isEmpty() || certificates.put(certificate, scope) != null)) {
      throw new IllegalArgumentException(
          "cert= takes a name in the certificates of one client, which no line above has");
    }
    if (words.length == 1 || !words[0].equals(NO_TOKEN)) {
      add(new Grant(digest(words[0]), scope));
    } else if (certificate == null) {
      throw new IllegalArgumentException(
          "- stands for no token; write cert= behind it, or a token instead of it");
    }
  }

  private void add(Grant added) {
    for (Grant each : grants) {
      if (MessageDigest.isEqual(each.digest, added.digest) && !each.scope.equals(added.scope)) {
        throw new IllegalArgumentException(
            "a line above has the same token with other settings; give each client its own token");
      }
    }
    grants.add(added);
  }

  /** Returns what the value of an {@code Authorization} header grants; null if nothing. */
  @Nullable Scope ofHeader(@Nullable String authorization) {
    if (authorization == null || !authorization.regionMatches(true, 0, "Bearer ", 0, SCHEME)) {
      return null;
    }
    return of(authorization.substring(SCHEME).strip());
  }

  /** Returns what a token grants; null if it is not one of these. */
  @Nullable Scope of(String token) {
    byte[] sent = digest(token);
    Scope found = null;
    for (Grant each : grants) {
      found = MessageDigest.isEqual(each.digest, sent) ? each.scope : found;
    }
    return found;
  }

  /** Returns what the certificate with some names grants; null if nothing. */
  @Nullable Scope ofCertificate(List<String> names) {
    for (String each : names) {
      Scope scope = certificates.get(each);
      if (scope != null) {
        return scope;
      }
    }
    return null;
  }

  /** Whether some client may not read all data sets. */
  boolean limitSets() {
    return Stream.concat(grants.stream().map(Grant::scope), certificates.values().stream())
        .anyMatch(Scope::isLimited);
  }

  private static byte[] digest(String token) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(token.getBytes(UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
