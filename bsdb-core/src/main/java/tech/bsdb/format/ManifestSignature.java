package tech.bsdb.format;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.util.Arrays;
import java.util.Collection;
import tech.bsdb.error.UntrustedException;

/** The signature in the footer of a manifest's file (FORMAT.md §18). */
public final class ManifestSignature {
  /** The algorithm of the keys. */
  public static final String ALGORITHM = "Ed25519";

  private static final String CONTEXT = "bsdb manifest\n";
  private static final int OFFSET = 48;
  private static final int LENGTH = 64;
  private static final FileIdentity FILE = new FileIdentity(FileKind.MANIFEST, 0);

  private ManifestSignature() {}

  /** Whether the file of a manifest has a signature, right or wrong. */
  private static boolean isSigned(byte[] file) {
    for (byte each : read(file)) {
      if (each != 0) {
        return true;
      }
    }
    return false;
  }

  /**
   * Signs the file of a manifest.
   *
   * @param file a whole one; not changed
   * @throws IllegalArgumentException if it is not a key of Ed25519
   */
  public static byte[] sign(byte[] file, PrivateKey key) {
    try {
      Signature signature = Signature.getInstance(ALGORITHM);
      signature.initSign(key);
      signature.update(signed(ShardSet.wholeText(ManifestFile.text(file))));
      return with(file, signature.sign());
    } catch (GeneralSecurityException e) {
      throw new IllegalArgumentException("a key that cannot sign: " + e.getMessage(), e);
    }
  }

  /** Gives the file of a partial set's manifest the signature of another file of the set. */
  public static byte[] copy(byte[] from, byte[] to) {
    return with(to, read(from));
  }

  /**
   * Fails unless one of the trusted keys has signed the file of a manifest.
   *
   * @param shown the file, for messages
   * @param file a whole one, whose pages were verified
   * @param trusted the keys; none if no signature is required
   */
  public static void require(String shown, byte[] file, Collection<PublicKey> trusted)
      throws UntrustedException {
    if (trusted.isEmpty()) {
      return;
    }
    if (!isSigned(file)) {
      throw new UntrustedException(shown + ": is not signed, but a trusted signature is required");
    }
    String text = ManifestFile.text(file);
    String whole = ShardSet.wholeText(text);
    if (!ShardSet.isText(text) && !text.contains("\nfile.sha256=")) {
      throw new UntrustedException(
          shown + ": has no content hashes, so its signature would cover no content");
    }
    byte[] signed = signed(whole);
    boolean ofSet =
        whole.equals(text)
            || text.contains("\nset.id=" + DatabaseId.derive(whole.getBytes(ISO_8859_1)) + "\n");
    for (PublicKey key : trusted) {
      if (ofSet && isRight(signed, read(file), key)) {
        return;
      }
    }
    throw new UntrustedException(
        shown
            + ": its signature is not by "
            + (trusted.size() == 1 ? "the trusted key" : "one of the trusted keys")
            + ", or what it signs was changed");
  }

  private static boolean isRight(byte[] text, byte[] signature, PublicKey key) {
    try {
      Signature check = Signature.getInstance(ALGORITHM);
      check.initVerify(key);
      check.update(text);
      return check.verify(signature);
    } catch (GeneralSecurityException e) {
      return false; // not a point of the curve, for example
    }
  }

  /**
   * What is signed.
   *
   * @param text the text of a manifest, or of the whole set's if that is of a partial one
   */
  private static byte[] signed(String text) {
    return (CONTEXT + text).getBytes(ISO_8859_1);
  }

  private static byte[] read(byte[] file) {
    int at = file.length - Page.SIZE + OFFSET;
    return Arrays.copyOfRange(file, at, at + LENGTH);
  }

  private static byte[] with(byte[] file, byte[] signature) {
    byte[] copy = file.clone();
    int footer = file.length - Page.SIZE;
    System.arraycopy(signature, 0, copy, footer + OFFSET, LENGTH);
    Page.seal(copy, footer, FILE, footer / Page.SIZE);
    return copy;
  }
}
