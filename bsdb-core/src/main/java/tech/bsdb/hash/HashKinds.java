package tech.bsdb.hash;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tech.bsdb.HashAlgorithm;
import tech.bsdb.error.UnsupportedFormatException;
import tech.bsdb.format.ChecksumTable;
import tech.bsdb.format.Facts;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageCheck;
import tech.bsdb.io.LoadedEngine;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.Window;

/** The kinds of hash functions that this version reads and builds. */
public final class HashKinds {
  /** The function of Genuzio, Ottaviano and Vigna. */
  public static final HashKind GOV = new Gov3Bucketed();

  /** The function of Groot Koerkamp. */
  public static final HashKind PTR = new Ptr();

  /** All kinds, in the order in which messages name them. */
  static final List<HashKind> ALL = List.of(GOV, PTR);

  private HashKinds() {}

  /** Returns the kind of a function. */
  public static HashKind of(HashAlgorithm algorithm) {
    return switch (algorithm) {
      case GOV -> GOV;
      case PTR -> PTR;
    };
  }

  /** Returns the kind with the given name, or null if this version does not read it. */
  static @Nullable HashKind named(String name) {
    for (HashKind kind : ALL) {
      if (kind.name().equals(name)) {
        return kind;
      }
    }
    return null;
  }

  /**
   * Returns the kind that a manifest names.
   *
   * @param file the manifest's file, which messages name
   * @throws UnsupportedFormatException if this version does not read that kind
   * @throws IllegalArgumentException if the manifest names no kind
   */
  public static HashKind of(Path file, Manifest manifest) throws UnsupportedFormatException {
    String name = Facts.hashKind(manifest);
    HashKind kind = named(name);
    if (kind == null) {
      throw new UnsupportedFormatException(
          file,
          "hash function " + name,
          ALL.stream().map(HashKind::name).collect(Collectors.joining(" or ")));
    }
    return kind;
  }

  /**
   * The function of Groot Koerkamp (SEA 2025) in parts (FORMAT.md §13): {@link Pilots} defines it
   * and finds it, {@link PtrLayout} lays it out, {@link PtrConstruction} builds it, {@link PtrHash}
   * reads it. The buckets of the other interfaces are its parts.
   */
  private static final class Ptr implements HashKind {
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

  /**
   * The function of Genuzio, Ottaviano and Vigna (SEA 2016) with a block of adjacent cache lines
   * per bucket (FORMAT.md §5): {@link BucketLayout} lays it out, {@link BucketSolver} builds it,
   * {@link BucketHash} reads it.
   */
  private static final class Gov3Bucketed implements HashKind {
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

  /**
   * Verifies the pages of a function's file: those of the body against the table of checksums that
   * follows it, all others against their own checksum (FORMAT.md §5).
   */
  private static final class BodyPages implements HashKind.PageVerifier {
    private final PageSource source;
    private final PageCheck check;
    private final long tablePage;
    private final Window table = new Window();

    /** The page of the table that the window shows, or 0. */
    private long shown;

    /** Creates a verifier for a file of {@code pages} pages. */
    BodyPages(long pages, PageSource source, PageCheck check) {
      this.source = source;
      this.check = check;
      this.tablePage = ChecksumTable.firstPage(pages);
    }

    @Override
    public int verify(Window window, int offset, long number) throws IOException {
      if (number == 0 || number >= tablePage) {
        return check.check(window.buffer(), offset, number);
      }
      long index = number - 1;
      long page = tablePage + index / ChecksumTable.PER_PAGE;
      if (page != shown) {
        source.read(page, 1, table);
        shown = page;
      }
      int at = table.offset() + (int) (index % ChecksumTable.PER_PAGE) * Integer.BYTES;
      int stored = table.buffer().getInt(at);
      check.check(window.crc32c(offset, Page.SIZE), stored, number);
      return stored;
    }
  }
}
