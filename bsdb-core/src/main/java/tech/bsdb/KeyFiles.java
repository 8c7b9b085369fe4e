package tech.bsdb;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.spec.KeySpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tech.bsdb.format.ManifestSignature;

/**
 * Reads the keys that sign databases, and those that signatures are checked with: Ed25519 in the
 * files that {@code openssl} writes.
 *
 * <pre>
 * openssl genpkey -algorithm ed25519 -out key.pem
 * openssl pkey -in key.pem -pubout -out key.pub
 * </pre>
 */
public final class KeyFiles {
  private static final int LONGEST = 1 << 20;

  private KeyFiles() {}

  /**
   * Reads a private key, which signs.
   *
   * @throws IOException if the file cannot be read, or does not hold one private key of Ed25519
   *     without a password
   */
  public static PrivateKey signing(Path file) throws IOException {
    List<PrivateKey> keys =
        read(
            file,
            "PRIVATE KEY",
            PKCS8EncodedKeySpec::new,
            (factory, spec) -> factory.generatePrivate(spec));
    if (keys.size() > 1) {
      throw new IOException(file + ": holds " + keys.size() + " private keys; leave one");
    }
    return keys.get(0);
  }

  /**
   * Reads public keys.
   *
   * @return one or more
   * @throws IOException if the file cannot be read, or holds no public keys of Ed25519
   */
  public static List<PublicKey> trusted(Path file) throws IOException {
    return read(
        file,
        "PUBLIC KEY",
        X509EncodedKeySpec::new,
        (factory, spec) -> factory.generatePublic(spec));
  }

  /** Makes a key of its encoding. */
  @FunctionalInterface
  private interface Decoder<K> {
    K decode(KeyFactory factory, KeySpec spec) throws GeneralSecurityException;
  }

  private static <K> List<K> read(
      Path file, String kind, Function<byte[], KeySpec> form, Decoder<K> decoder)
      throws IOException {
    if (Files.isDirectory(file)) {
      throw new IOException(file + ": is a directory, not a file of keys");
    }
    if (Files.size(file) > LONGEST) {
      throw new IOException(
          file + ": is not a file of keys, it has " + Files.size(file) + " bytes");
    }
    String text = Files.readString(file, StandardCharsets.ISO_8859_1);
    Matcher blocks =
        Pattern.compile("-----BEGIN " + kind + "-----([^-]*)-----END " + kind + "-----")
            .matcher(text);
    List<K> keys = new ArrayList<>();
    while (blocks.find()) {
      try {
        byte[] encoded = Base64.getMimeDecoder().decode(blocks.group(1));
        KeyFactory factory = KeyFactory.getInstance(ManifestSignature.ALGORITHM);
        keys.add(decoder.decode(factory, form.apply(encoded)));
      } catch (GeneralSecurityException | IllegalArgumentException e) {
        throw new IOException(
            file + ": a " + kind.toLowerCase(java.util.Locale.ROOT) + " that is not of Ed25519", e);
      }
    }
    if (keys.isEmpty() && text.contains("-----BEGIN ENCRYPTED")) {
      throw new IOException(
          file + ": has a password; take it off with openssl pkey -in FILE -out OTHER");
    }
    if (keys.isEmpty()) {
      throw new IOException(
          file
              + ": holds no -----BEGIN "
              + kind
              + "-----; make keys with openssl genpkey -algorithm ed25519, and openssl pkey -pubout");
    }
    return keys;
  }
}
