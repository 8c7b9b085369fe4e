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
 * The function of Groot Koerkamp (SEA 2025) in parts (FORMAT.md §13): {@link Pilots} defines it and
 * finds it, {@link PtrLayout} lays it out, {@link PtrConstruction} builds it, {@link PtrHash} reads
 * it. The buckets of the other interfaces are its parts.
 */
final class Ptr implements HashKind {
  @Override
  public String name() {
    return "ptr";
  }

  @Override
  public HashFunction open(
      Path path, FileEntry entry, Facts facts, boolean verify, @Nullable LoadedEngine loader)
      throws IOException {
    PtrLayout layout = new PtrLayout(facts.hashBuckets(), facts.checksumBits());
    return PtrHash.open(path, entry, layout, facts.records(), verify, loader);
  }

  @Override
  public PageVerifier verifier(FileEntry entry, PageSource source, PageCheck check) {
    return new BodyPages(entry.pages(), source, check);
  }

  @Override
  public int attempts() {
    return PtrLayout.ATTEMPTS;
  }

  @Override
  public HashConstruction construct(long keys, int checksumBits, int partitions, int attempt) {
    return new PtrConstruction(
        new PtrLayout(PtrLayout.partsFor(keys, attempt), checksumBits), keys);
  }
}
