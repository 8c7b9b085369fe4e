package tech.bsdb.bench.compare;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import tech.bsdb.BuildOptions;
import tech.bsdb.Layout;
import tech.bsdb.data.CompressedReader;
import tech.bsdb.data.PlainReader;
import tech.bsdb.data.RecordReader;
import tech.bsdb.data.Scratch;
import tech.bsdb.data.Values;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.hash.HashFunction;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.index.AddressIndex;
import tech.bsdb.io.BufferedEngine;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.Engine;
import tech.bsdb.io.Extent;
import tech.bsdb.io.MappedEngine;
import tech.bsdb.io.ReadCount;

/**
 * The layers of a lookup, each on its own: key to signature, signature to slot, slot to address,
 * address to record. Keys come in random order, so that a layer misses the processor's caches as in
 * a lookup. But no key waits for the previous key's answer, so cache misses of successive keys
 * overlap and the layers add up to less than a lookup.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgs = "-Xmx1g")
public class LayerBenchmark {
  private static final int QUERIES = 1 << 20;

  /** The number of records; with ten million, most accesses miss the processor's caches. */
  @Param("10000000")
  public int records;

  /** The layout of the data files: a {@link Layout} with a hash function and addresses. */
  @Param({"BLOCKED", "COMPACT", "COMPRESSED"})
  public String layout = "";

  /** The engine that reads pages. */
  @Param({"mapped", "buffered"})
  public String engine = "";

  private final Signature signature = new Signature();
  private final Extent extent = new Extent();
  private final Values values = Values.separate();
  private final Scratch scratch = new Scratch();
  private final byte[][] keys = new byte[QUERIES][];
  private final long[] high = new long[QUERIES];
  private final long[] low = new long[QUERIES];
  private final long[] slots = new long[QUERIES];
  private final long[] addressOf = new long[QUERIES];
  private final List<Closeable> opened = new ArrayList<>();
  private SignatureFunction function =
      SignatureFunction.of(BuildOptions.defaults());
  private HashFunction hash = null;
  private AddressIndex index = null;
  private RecordReader reader = null;
  private int next;

  /** Opens the layers and passes every key through them once. */
  @Setup(Level.Trial)
  public void open() throws IOException {
    Path path = NumberedDatabase.of(records, layout.toLowerCase(Locale.ROOT));
    DatabaseDirectory directory = tech.bsdb.directory.DataSet.open(path).single();
    Manifest manifest = directory.manifest();
    Engine engine = this.engine.equals("mapped") ? new MappedEngine() : new BufferedEngine();
    FileEntry hashEntry = manifest.files(FileKind.HASH).get(0);
    function = SignatureFunction.of(directory.facts());
    hash =
        directory
            .hashKind()
            .open(directory.file(hashEntry), hashEntry, directory.facts(), true, null);
    opened.add(hash);
    ReadCount reads = new ReadCount();
    CheckedPages pages =
        directory.pages(manifest.files(FileKind.INDEX).get(0), engine, true, reads);
    opened.add(pages);
    index = new AddressIndex(pages);
    reader =
        directory.facts().layout() == Layout.COMPRESSED
            ? new CompressedReader(
                directory.dataFiles(engine, true, reads),
                directory.facts().addresses(),
                directory.dictionary(),
                directory.facts().zstdLongest())
            : new PlainReader(
                directory.dataFiles(engine, true, reads), directory.facts().addresses());
    opened.add(reader);
    int[] order = DataSet.shuffled(records);
    for (int i = 0; i < QUERIES; i++) {
      keys[i] = DataSet.key(order[i % records]);
      function.sign(keys[i], 0, keys[i].length, signature);
      high[i] = signature.high;
      low[i] = signature.low;
      slots[i] = hash.slot(high[i], low[i]);
      addressOf[i] = addressIn(slots[i]);
      if (recordAt(i) == null) {
        throw new IllegalStateException("a key is absent");
      }
    }
  }

  /** Closes the layers. */
  @TearDown(Level.Trial)
  public void close() throws IOException {
    scratch.close();
    for (Closeable resource : opened) {
      resource.close();
    }
  }

  private int step() {
    next = next + 1 & QUERIES - 1;
    return next;
  }

  /** Key to signature. */
  @Benchmark
  public long signature() {
    byte[] key = keys[step()];
    function.sign(key, 0, key.length, signature);
    return signature.high ^ signature.low;
  }

  /** Signature to slot. */
  @Benchmark
  public long slot() throws IOException {
    int i = step();
    return hash.slot(high[i], low[i]);
  }

  /** Slot to address. */
  @Benchmark
  public long address() throws IOException {
    return addressIn(slots[step()]);
  }

  /** Address to value. */
  @Benchmark
  public byte @Nullable [] record() throws IOException {
    return recordAt(step());
  }

  private long addressIn(long slot) throws IOException {
    index.locate(slot, extent);
    extent.read();
    return index.address(slot, extent);
  }

  private byte @Nullable [] recordAt(int i) throws IOException {
    reader.locate(addressOf[i], extent);
    extent.read();
    return reader.decode(addressOf[i], keys[i], extent, values, scratch);
  }
}
