package tech.bsdb;

/**
 * The minimal perfect hash functions that an indexed or approximate database can have (FORMAT.md
 * §5, §13). Readers know all of them.
 */
public enum HashAlgorithm {
  /**
   * The function of Genuzio, Ottaviano and Vigna (2016): 4.6 bits a key and the {@linkplain
   * BuildOptions#checksumBits() checksum bits}, all of a key in adjacent cache lines.
   */
  GOV,
  /**
   * PtrHash, the function of Groot Koerkamp (2025): 2.5 bits a key, of which a lookup reads one
   * byte, and the checksum bits apart from them. The default.
   */
  PTR
}
