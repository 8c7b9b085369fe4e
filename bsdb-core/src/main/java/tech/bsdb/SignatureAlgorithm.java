package tech.bsdb;

import java.util.Locale;

/**
 * The functions that give a key its signature of 128 bits, from which all structures of a database
 * place it (FORMAT.md §5). Readers know all of them.
 */
public enum SignatureAlgorithm {
  /**
   * Bob Jenkins' SpookyHash with four words of state, in format 1, which all releases read.
   * Databases with {@link HashAlgorithm#GOV} always have it.
   */
  SPOOKY,
  /**
   * Multiply and mix with 128 bits of state, in format 2: it takes half the time of {@link
   * #SPOOKY}, and no two keys are known that collide with every seed. The default.
   */
  MUM;

  /** The name in manifests and {@linkplain Statistics#signature statistics}; never changes. */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }
}
