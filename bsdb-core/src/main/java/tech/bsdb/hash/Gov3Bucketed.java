package tech.bsdb.hash;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.Facts;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.PageCheck;
import tech.bsdb.io.LoadedEngine;
import tech.bsdb.io.PageSource;

/**
 * The function of Genuzio, Ottaviano and Vigna (SEA 2016) with a block of adjacent cache lines per
 * bucket (FORMAT.md §5): {@link BucketLayout} lays it out, {@link BucketSolver} builds it, {@link
 * BucketHash} reads it.
 */
final class Gov3Bucketed implements HashKind {
  @Override
  public String name() {
    return "gov3-bucketed";
  }

  @Override
  public HashFunction open(
      Path path, FileEntry entry, Facts facts, boolean verify, @Nullable LoadedEngine loader)
      throws IOException {
    return BucketHash.open(
        path, entry, facts.hashBuckets(), facts.records(), facts.checksumBits(), verify, loader);
  }

  @Override
  public PageVerifier verifier(FileEntry entry, PageSource source, PageCheck check) {
    return new BodyPages(entry.pages(), source, check);
  }

  @Override
  public int attempts() {
    return BucketLayout.ATTEMPTS;
  }

  @Override
  public HashConstruction construct(long keys, int checksumBits, int partitions, int attempt) {
    long buckets = BucketLayout.bucketsFor(keys, partitions, attempt);
    return new BucketSolver(buckets, checksumBits);
  }
}
