package tech.bsdb.directory;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.io.BufferedEngine;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.DirectEngine;
import tech.bsdb.io.Engine;
import tech.bsdb.io.Engines;
import tech.bsdb.io.LoadedEngine;
import tech.bsdb.io.MappedEngine;
import tech.bsdb.io.Memory;
import tech.bsdb.io.PageCache;
import tech.bsdb.io.PageFile;
import tech.bsdb.io.PageFill;
import tech.bsdb.io.Ranges;
import tech.bsdb.io.ReadQueue;
import tech.bsdb.io.RemoteEngine;
import tech.bsdb.io.UringEngine;

/** Chooses the engines that read the index and the data files of a database. */
@FunctionalInterface
public interface EngineChoice {
  /** The system property that forbids io_uring if set to "false". */
  String URING = "bsdb.uring";

  /** The reason reported when the property forbids io_uring. */
  String FORBIDDEN = "-D" + URING + "=false";

  /**
   * The chosen engines.
   *
   * @param index reads the index
   * @param data reads the data files; the same object as {@code index} where both go through one
   *     queue
   * @param filters loads the filter, unless no lookup needs it; see {@link #filterLoader}
   * @param reason the engines' names and why they were chosen
   */
  record Chosen(Engine index, Engine data, LoadedEngine filters, String reason) {
    private static final Logger LOG = LoggerFactory.getLogger(EngineChoice.class);

    Chosen(Engine index, Engine data, String reason) {
      this(index, data, new LoadedEngine(), reason);
    }

    /**
     * The engine that loads the filter of a packed database, or null if lookups do without it. In
     * mapped or loaded data files, a lookup touches the page of its bin, which has a filter of its
     * own; touching another filter first would cost more than it saves.
     */
    public @Nullable LoadedEngine filterLoader() {
      return data.showsMemory() ? null : filters;
    }

    /** The engine that reads index or data files. */
    private Engine of(FileKind kind) {
      return kind == FileKind.INDEX ? index : data;
    }

    /** Whether windows on index or data files show memory. */
    public boolean showsMemory(FileKind kind) {
      return of(kind).showsMemory();
    }

    /** The engine that loads the hash function if index and data are loaded, or null to map it. */
    public @Nullable LoadedEngine loader() {
      return data instanceof LoadedEngine loader && index instanceof LoadedEngine ? loader : null;
    }

    /** The engines that load files, that of the filter last. */
    public List<LoadedEngine> loaders() {
      return Stream.of(index, data, filters)
          .filter(LoadedEngine.class::isInstance)
          .map(LoadedEngine.class::cast)
          .toList();
    }

    /** Fails if the files to load do not fit in memory. */
    public void requireRoom(DataSet opened) throws IOException {
      long bytes = 0;
      for (DataSet.Located file : opened.files()) {
        FileEntry entry = file.entry();
        boolean loaded =
            switch (entry.file().kind()) {
              case INDEX -> index instanceof LoadedEngine;
              case DATA -> data instanceof LoadedEngine;
              case HASH -> loader() != null;
              default -> false;
            };
        bytes += loaded ? entry.length() : 0;
      }
      if (bytes > 0) {
        loaders().get(0).requireRoom(opened.path(), bytes);
      }
    }

    /** The engine that benefits from concurrent reads, or null. */
    public @Nullable Engine overlapping() {
      if (data.verifiesEveryRead()) {
        return data;
      }
      return index.verifiesEveryRead() ? index : null;
    }

    /** Whether index or data files are read through {@link #queue}. */
    public boolean isQueued(FileKind kind) {
      return of(kind).equals(overlapping());
    }

    /** Whether one thread can have many reads in flight without other threads. */
    public boolean hasRings() {
      Engine engine = overlapping();
      return engine != null && engine.hasRings();
    }

    /** Whether a read takes so long that no thread should wait for a single one. */
    public boolean isDistant() {
      Engine engine = overlapping();
      return engine != null && engine.isDistant();
    }

    /** Creates a read queue of the engine that overlaps reads. */
    public ReadQueue queue(boolean oneThread) throws IOException {
      Engine engine = overlapping();
      if (engine == null) {
        throw new IllegalStateException("no engine overlaps reads");
      }
      return engine.queue(engine.depth(), oneThread);
    }
  }

  /** Chooses for a database, or for all shards of a set. */
  Chosen choose(DataSet opened) throws IOException;

  /** Uses one engine for all files. */
  static EngineChoice always(Engine engine) {
    return opened -> same(engine, engine.name() + " (as asked)");
  }

  /**
   * Reads the files that are not here in ranges.
   *
   * @param memoryBytes the most bytes of their pages to keep in memory
   * @param disk keeps pages on disk; null to keep none
   */
  static EngineChoice remote(Ranges ranges, long memoryBytes, @Nullable PageFile disk) {
    return opened -> {
      Map<Path, CheckedPages.Check> checks = new HashMap<>();
      Map<Path, Long> identities = new HashMap<>();
      for (PageFill.Part file : opened.ranged(true)) {
        checks.put(file.file(), file.check());
        identities.put(file.file(), file.identity());
      }
      Engine engine =
          new RemoteEngine(
              ranges, checks::get, memoryBytes, disk, file -> identities.getOrDefault(file, 0L));
      return same(engine, engine.name() + " (read where it lies)");
    };
  }

  /**
   * Uses the engines that a caller names.
   *
   * @param index the name of the engine for the index, or null to choose one
   * @param data the same for the data files
   * @param indexInMemory whether the index is read into memory at opening; {@code index} is then
   *     ignored
   */
  static EngineChoice named(@Nullable String index, @Nullable String data, boolean indexInMemory) {
    return opened -> {
      Path path = opened.path();
      Chosen chosen =
          index != null && data != null
              ? same(Engines.require(data, path), "as asked")
              : automatic(opened);
      Engine forData = named(data, chosen.data, path);
      Engine forIndex =
          indexInMemory
              ? new LoadedEngine()
              : named(index, index == null ? chosen.index : forData, path);
      String names =
          forIndex.name().equals(forData.name())
              ? forData.name()
              : "index " + forIndex.name() + ", data " + forData.name();
      return new Chosen(forIndex, forData, names + " (" + chosen.reason + ")");
    };
  }

  /** The engine with a name; the given one if it has that name, or if there is no name. */
  private static Engine named(@Nullable String name, Engine engine, Path path) throws IOException {
    return name == null || name.equals(engine.name()) ? engine : Engines.require(name, path);
  }

  /**
   * Chooses the engines for the documented constructors.
   *
   * @param approximate whether the database must be approximate
   * @param indexInMemory whether the index is read into memory at opening
   * @param indexDirect whether the index is read by direct I/O rather than mapped
   * @param kvDirect the same for the data files
   * @param asynchronous whether to use io_uring for direct reads where available
   */
  static EngineChoice documented(
      boolean approximate,
      boolean indexInMemory,
      boolean indexDirect,
      boolean kvDirect,
      boolean asynchronous) {
    return opened -> {
      requireMode(opened, approximate);
      boolean needed = indexDirect && !indexInMemory || kvDirect;
      Engine mapped = new MappedEngine();
      Chosen direct = needed ? direct(opened.path(), asynchronous) : same(mapped, "");
      Engine data = kvDirect ? direct.data : mapped;
      Engine index = indexInMemory ? new LoadedEngine() : indexDirect ? direct.data : mapped;
      if (!direct.reason.isEmpty()) {
        noteFallback(opened.path(), direct.data, direct.reason);
      }
      String why = direct.reason.isEmpty() ? "as asked" : direct.reason;
      return new Chosen(
          index, data, "index " + index.name() + ", data " + data.name() + " (" + why + ")");
    };
  }

  private static void requireMode(DataSet database, boolean approximate) {
    boolean is = database.facts().approximate();
    if (approximate && !is) {
      throw new IllegalArgumentException(
          database.path()
              + " has no approximate index; build it with -a, or open it without approximate mode");
    }
    if (!approximate && is) {
      throw new IllegalArgumentException(
          database.path() + " is approximate; open it in approximate mode, or build it without -a");
    }
  }

  /** Chooses the best direct engine, or buffered reads with the reason why there is none. */
  private static Chosen direct(Path path, boolean asynchronous) {
    String noDirect = Engines.unavailable("direct", path);
    if (noDirect != null) {
      return same(new BufferedEngine(), "direct is not available: " + noDirect);
    }
    String noRing = asynchronous ? noUring(path) : "";
    if (noRing == null) {
      return same(new UringEngine(), "");
    }
    return same(new DirectEngine(), asynchronous ? "io_uring is not available: " + noRing : "");
  }

  private static @Nullable String noUring(Path path) {
    return System.getProperty(URING, "true").equals("false")
        ? FORBIDDEN
        : Engines.unavailable("io_uring", path);
  }

  /** Chooses by the machine's memory and engines. */
  static EngineChoice auto() {
    return named(null, null, false);
  }

  /**
   * Chooses mapped files if they are already in memory, or if memory is large enough and the kernel
   * can be advised not to read ahead. Chooses io_uring, if available, for a database larger than
   * memory. Otherwise chooses buffered reads. The reason omits the engine's name.
   */
  private static Chosen automatic(DataSet opened) throws IOException {
    double least = 1;
    long bytes = 0;
    for (DataSet.Located file : opened.files()) {
      FileEntry entry = file.entry();
      if (entry.file().kind() == FileKind.INDEX || entry.file().kind() == FileKind.DATA) {
        least = Math.min(least, PageCache.share(file.path(), entry.length()));
        bytes += entry.length();
      }
    }
    String share = "chosen: " + Math.round(least * 100) + " % of the sampled pages are in memory";
    if (least >= 0.9) {
      return same(new MappedEngine(), share);
    }
    if (bytes > Memory.available()) {
      String why = share + ", and the files do not fit in memory";
      String noRing = noUring(opened.path());
      if (noRing == null) {
        return same(new UringEngine(), why);
      }
      Engine buffered = new BufferedEngine();
      noteFallback(
          opened.path(),
          buffered,
          "larger than the available memory, and io_uring is not available: " + noRing);
      return same(buffered, why);
    }
    return same(Memory.heedsAdvice() ? new MappedEngine() : new BufferedEngine(), share);
  }

  /** Logs, once per opening, that the best engine is not used. */
  private static void noteFallback(Path path, Engine engine, String reason) {
    String message = "{}: read by the engine {}: {}";
    if (reason.endsWith(FORBIDDEN)) { // the user's own choice
      Chosen.LOG.info(message, path, engine.name(), reason);
    } else {
      Chosen.LOG.warn(message, path, engine.name(), reason);
    }
  }

  private static Chosen same(Engine engine, String reason) {
    return new Chosen(engine, engine, reason);
  }
}
