package tech.bsdb.hash;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tech.bsdb.HashAlgorithm;
import tech.bsdb.error.UnsupportedFormatException;
import tech.bsdb.format.Facts;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.io.LoadedEngine;

/**
 * The kinds of minimal perfect hash functions that this version reads and builds: how the file of
 * each is built, opened and verified.
 */
public enum HashKind {
  /**
   * The function of Genuzio, Ottaviano and Vigna (SEA 2016) with a block of adjacent cache lines
   * per bucket (FORMAT.md §5): {@link BucketLayout} lays it out, {@link BucketSolver} builds it,
   * {@link BucketHash} reads it.
   */
  GOV("gov3-bucketed", BucketLayout.ATTEMPTS),

  /**
   * The function of Groot Koerkamp (SEA 2025) in parts (FORMAT.md §13): {@link Pilots} defines it
   * and finds it, {@link PtrLayout} lays it out, {@link PtrConstruction} builds it, {@link PtrHash}
   * reads it. The buckets of the other interfaces are its parts.
   */
  PTR("ptr", PtrLayout.ATTEMPTS);

  private final String id;
  private final int attempts;

  HashKind(String id, int attempts) {
    this.id = id;
    this.attempts = attempts;
  }

  /** The name of the kind in the manifest. Never changes. */
  public String id() {
    return id;
  }

  /** How often a build may try to construct a function, at least once. */
  public int attempts() {
    return attempts;
  }

  /** Returns the kind of a function. */
  public static HashKind of(HashAlgorithm algorithm) {
    return switch (algorithm) {
      case GOV -> GOV;
      case PTR -> PTR;
    };
  }

  /**
   * Returns the kind that a manifest names.
   *
   * @param file the manifest's file, which messages name
   * @throws UnsupportedFormatException if this version does not read that kind
   * @throws IllegalArgumentException if the manifest names no kind
   */
  public static HashKind of(Path file, Manifest manifest) throws UnsupportedFormatException {
    String named = Facts.hashKind(manifest);
    for (HashKind kind : values()) {
      if (kind.id.equals(named)) {
        return kind;
      }
    }
    String all = Arrays.stream(values()).map(HashKind::id).collect(Collectors.joining(" or "));
    throw new UnsupportedFormatException(file, "hash function " + named, all);
  }

  /**
   * Opens a function.
   *
   * @param path its file, whose frame has been verified
   * @param entry the file's entry in the manifest
   * @param facts the facts of the database
   * @param verify whether to verify pages, on first touch or while loading
   * @param loader loads the whole file; null to map it
   * @throws tech.bsdb.error.CorruptDatabaseException if the file does not match the facts, or is
   *     found damaged while loading
   */
  public HashFunction open(
      Path path, FileEntry entry, Facts facts, boolean verify, @Nullable LoadedEngine loader)
      throws IOException {
    return switch (this) {
      case GOV -> BucketHash.open(path, entry, facts, verify, loader);
      case PTR -> PtrHash.open(path, entry, facts, verify, loader);
    };
  }

  /**
   * Plans the construction of a function.
   *
   * @param keys the number of keys, or an upper bound while duplicates have not been counted
   * @param checksumBits checksum bits per key, 0 to 32
   * @param partitions the number of partitions of the signatures, a power of two
   * @param attempt 0, increased by one after each {@link BucketOverflowException}, less than {@link
   *     #attempts}
   */
  public HashConstruction construct(long keys, int checksumBits, int partitions, int attempt) {
    return switch (this) {
      case GOV ->
          new BucketSolver(BucketLayout.bucketsFor(keys, partitions, attempt), checksumBits);
      case PTR ->
          new PtrConstruction(new PtrLayout(PtrLayout.partsFor(keys, attempt), checksumBits), keys);
    };
  }
}
