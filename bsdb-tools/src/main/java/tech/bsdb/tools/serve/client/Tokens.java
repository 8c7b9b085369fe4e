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
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.SmallFile;

/**
 * The bearer tokens that grant access (RFC 6750). Only their digests are kept, and comparison takes
 * constant time.
 */
record Tokens(List<byte[]> digests) {
  private static final int SCHEME = "Bearer ".length();

  /**
   * Reads a file of tokens, one per line; blank lines are ignored.
   *
   * @throws FileSystemException if it has no token, or a token that no header can carry
   */
  static Tokens read(Path file) throws IOException {
    List<byte[]> digests = new ArrayList<>();
    int number = 0;
    byte[] bytes = SmallFile.read(file, "a file of tokens");
    try {
      String text = UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      for (String line : text.lines().toList()) {
        number++;
        String token = line.strip();
        if (!token.chars().allMatch(c -> c > ' ' && c < 127)) {
          throw new FileSystemException(
              file.toString(),
              null,
              "line " + number + ": a token must have only visible ASCII characters");
        }
        if (!token.isEmpty()) {
          digests.add(digest(token));
        }
      }
    } catch (CharacterCodingException e) {
      throw new FileSystemException(
          file.toString(), null, "not a text file of tokens, one per line");
    }
    if (digests.isEmpty()) {
      throw new FileSystemException(
          file.toString(), null, "holds no token; write one per line, or leave --token-file out");
    }
    return new Tokens(digests);
  }

  /** Whether the value of an {@code Authorization} header carries one of the tokens. */
  boolean admit(@Nullable String authorization) {
    if (authorization == null || !authorization.regionMatches(true, 0, "Bearer ", 0, SCHEME)) {
      return false;
    }
    return has(authorization.substring(SCHEME).strip());
  }

  /** Whether a token is one of these. */
  boolean has(String token) {
    byte[] sent = digest(token);
    boolean found = false;
    for (byte[] digest : digests) {
      found |= MessageDigest.isEqual(digest, sent);
    }
    return found;
  }

  private static byte[] digest(String token) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(token.getBytes(UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
