package tech.bsdb.bench.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.SplittableRandom;
import tech.bsdb.DuplicatePolicy;
import tech.bsdb.Layout;
import tech.bsdb.SignatureAlgorithm;
import tech.bsdb.format.DatabaseId;
import tech.bsdb.format.Facts;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.hash.BucketOverflowException;
import tech.bsdb.hash.HashConstruction;
import tech.bsdb.hash.HashFunction;
import tech.bsdb.hash.HashKind;
import tech.bsdb.index.AddressIndex;
import tech.bsdb.index.SlotWriter;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.write.DuplicateSignatureException;
import tech.bsdb.write.IndexStage;
import tech.bsdb.write.OutputFile;
import tech.bsdb.write.SignatureSpill;

/**
 * Random signatures in a spill file, from which the index stage of a build makes hash functions.
 * Signature {@code i} is two outputs of a mixing function of {@code i}, so that it can be computed
 * again without memory.
 */
final class HashedSignatures implements AutoCloseable {
  /** Checksum bits per key, as builds have by default. */
  static final int CHECKSUM_BITS = 4;

  private static final long MEMORY = 256 << 20;
  private static final int THREADS = 2;

  private final Path directory;
  private final int count;
  private final SignatureSpill spill;

  /**
   * Spills signatures.
   *
   * @param count the number of signatures, at least 1
   */
  HashedSignatures(int count) throws IOException {
    this.count = count;
    Path work =
        Path.of(System.getProperty("bsdb.bench.work", System.getProperty("java.io.tmpdir")));
    Files.createDirectories(work);
    directory = Files.createTempDirectory(work, "hash-");
    spill = new SignatureSpill(directory.resolve("spill"), Long.BYTES);
    for (int i = 0; i < count; i++) {
      spill.add(high(i), low(i), i);
    }
    spill.seal();
  }

  /** The kind of a hash function by its name in {@code --hash}. */
  static HashKind kind(String name) {
    return switch (name.toUpperCase(Locale.ROOT)) {
      case "GOV" -> HashKind.GOV;
      case "PTR" -> HashKind.PTR;
      default -> throw new IllegalArgumentException("hash is gov or ptr, not " + name);
    };
  }

  /** The first half of a signature; for {@code i} of {@code count} or more, of an absent key. */
  static long high(long i) {
    return mix(2 * i);
  }

  /** The second half of a signature. */
  static long low(long i) {
    return mix(2 * i + 1);
  }

  private static long mix(long number) {
    return new SplittableRandom(number).nextLong();
  }

  /**
   * A hash function in a file.
   *
   * @param kind its kind
   * @param path its file
   * @param entry the file's entry in the manifest
   * @param facts the facts of its database
   */
  record Built(HashKind kind, Path path, FileEntry entry, Facts facts) {
    /** Maps the function. */
    HashFunction open() throws IOException {
      return kind.open(path, entry, facts, true, null);
    }

    long bytes() throws IOException {
      return Files.size(path);
    }
  }

  /** Runs the index stage and keeps the function, but not the index. */
  Built build(HashKind kind) throws IOException {
    try (OutputFile hash = new OutputFile(directory, HashFunction.identity(), ChunkBuffer.huge())) {
      HashConstruction construction = index(kind, hash);
      FileEntry entry = hash.entry(hash.pages().position());
      hash.seal(DatabaseId.derive(new byte[0]), kind.name());
      return new Built(
          kind, directory.resolve(kind.name()), entry, facts(count, construction.buckets()));
    }
  }

  /** Runs the index stage and keeps nothing. Does not wait for the device. */
  void index(HashKind kind) throws IOException {
    try (OutputFile hash = new OutputFile(directory, HashFunction.identity(), ChunkBuffer.huge())) {
      index(kind, hash);
    }
  }

  private HashConstruction index(HashKind kind, OutputFile hash) throws IOException {
    HashConstruction construction =
        kind.construct(count, CHECKSUM_BITS, SignatureSpill.PARTITIONS, 0);
    try (OutputFile index =
        new OutputFile(directory, AddressIndex.identity(), ChunkBuffer.huge())) {
      new IndexStage(spill, construction, MEMORY, THREADS, DuplicatePolicy.ERROR, () -> false)
          .write(
              construction.writer(hash.pages(), count),
              new SlotWriter(index.pages(), AddressIndex.WIDTH),
              AddressIndex.WIDTH,
              more -> {});
      hash.finish();
      index.finish();
    } catch (BucketOverflowException | DuplicateSignatureException e) {
      throw new IllegalStateException(e);
    }
    return construction;
  }

  private static Facts facts(long records, long buckets) {
    return new Facts(
        Layout.BLOCKED,
        records,
        0,
        0,
        0,
        0,
        0,
        SignatureAlgorithm.MUM,
        0,
        buckets,
        CHECKSUM_BITS,
        0,
        0,
        1,
        0,
        0,
        0,
        null,
        null,
        null,
        null,
        null);
  }

  @Override
  public void close() throws IOException {
    spill.close();
    CompareStores.delete(directory);
  }
}
