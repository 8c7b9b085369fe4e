package tech.bsdb.io;

import java.nio.file.Path;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Reads files that lie elsewhere, range by range, and keeps verified pages in memory. Opening a
 * file requests nothing, so that one that is missing is found at its first read.
 */
public final class RemoteEngine implements Engine {
  /** A round trip takes long: all reads of a large batch are to be under way together. */
  private static final int DEPTH = 256;

  private final Ranges ranges;
  private final Function<Path, CheckedPages.@Nullable Check> checks;
  private final PageMemory memory;
  private final @Nullable PageFile disk;
  private final ToLongFunction<Path> identities;
  private final Fetches fetches = new Fetches();
  private final ConcurrentHashMap<Path, Integer> numbers = new ConcurrentHashMap<>();
  private final AtomicInteger opened = new AtomicInteger();

  /**
   * Creates the engine.
   *
   * @param ranges reads the files
   * @param checks verifies the pages of a file, for several threads at once; returns null to trust
   *     all
   * @param memoryBytes the most bytes of verified pages to keep in memory; 0 to keep none
   */
  public RemoteEngine(
      Ranges ranges, Function<Path, CheckedPages.@Nullable Check> checks, long memoryBytes) {
    this(ranges, checks, memoryBytes, null, file -> 0);
  }

  /**
   * Creates the engine.
   *
   * @param disk keeps pages on disk, too; outlives the files; null to keep none
   * @param identities the {@link PageFile#identity} of a file
   */
  public RemoteEngine(
      Ranges ranges,
      Function<Path, CheckedPages.@Nullable Check> checks,
      long memoryBytes,
      @Nullable PageFile disk,
      ToLongFunction<Path> identities) {
    this.ranges = ranges;
    this.checks = checks;
    this.memory = new PageMemory(memoryBytes);
    this.disk = disk;
    this.identities = identities;
  }

  @Override
  public String name() {
    return "remote";
  }

  @Override
  public boolean verifiesEveryRead() {
    return true;
  }

  @Override
  public boolean isDistant() {
    return true;
  }

  @Override
  public int depth() {
    return DEPTH;
  }

  @Override
  public PageSource open(Path file, long length) {
    int number = numbers.computeIfAbsent(file, added -> opened.getAndIncrement());
    PageStock stock = new PageStock(memory, number, disk, identities.applyAsLong(file));
    return new RemotePages(ranges, stock, fetches, file, length, checks.apply(file));
  }

  @Override
  public ReadQueue queue(int depth, boolean oneThread) {
    return new RangeQueue(depth);
  }
}
