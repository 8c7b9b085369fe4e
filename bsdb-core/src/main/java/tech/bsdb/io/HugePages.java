package tech.bsdb.io;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tech.bsdb.MemoryUse;

/**
 * Linux statistics on this process's own mappings: how much is in memory, and how much of that in
 * huge pages. Reading them takes milliseconds, because the kernel walks every mapping.
 */
public final class HugePages {
  private static final Path SMAPS = Path.of("/proc/self/smaps");
  private static final String DELETED = " (deleted)";

  /** A range of our own anonymous memory. */
  record Range(long address, long length) {}

  private HugePages() {}

  /**
   * Returns the memory use of all mappings of some files and of loaded files.
   *
   * @param files the files' real paths; the files may have been deleted since
   * @param loaded the engines that hold loaded files
   * @return {@link MemoryUse#NONE} where the system does not report it
   */
  public static MemoryUse of(Collection<Path> files, Collection<LoadedEngine> loaded)
      throws IOException {
    Set<String> names = new HashSet<>();
    for (Path file : files) {
      names.add(new String(NativeFile.bytes(file), StandardCharsets.ISO_8859_1));
    }
    Set<Range> ranges = new HashSet<>();
    loaded.forEach(engine -> ranges.addAll(engine.ranges()));
    try (BufferedReader lines = Files.newBufferedReader(SMAPS, StandardCharsets.ISO_8859_1)) {
      return of(lines, names, ranges);
    } catch (NoSuchFileException e) {
      return MemoryUse.NONE; // not Linux
    }
  }

  /** The same, from the lines of an smaps file. */
  static MemoryUse of(BufferedReader lines, Set<String> names, Set<Range> ranges)
      throws IOException {
    MemoryUse all = MemoryUse.NONE;
    Region region = null;
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      Region next = Region.of(line);
      if (next != null) {
        all = all.plus(region == null ? MemoryUse.NONE : region.use(names, ranges));
        region = next;
      } else if (region != null) {
        region.note(line);
      }
    }
    return all.plus(region == null ? MemoryUse.NONE : region.use(names, ranges));
  }

  /** One mapping: a header line, then lines of figures. */
  private static final class Region {
    private final long from;
    private final long to;
    private final String path;
    private long resident;
    private long huge;

    private Region(long from, long to, String path) {
      this.from = from;
      this.to = to;
      this.path = path;
    }

    /** Returns the mapping that a header line starts, or null for a line of figures. */
    static @Nullable Region of(String line) {
      int dash = line.indexOf('-');
      int blank = line.indexOf(' ');
      if (dash <= 0 || blank < dash || line.charAt(blank - 1) == ':') {
        return null;
      }
      long from = Long.parseUnsignedLong(line.substring(0, dash), 16);
      long to = Long.parseUnsignedLong(line.substring(dash + 1, blank), 16);
      int slash = line.indexOf('/'); // the columns before the path contain none
      String path = slash < 0 ? "" : line.substring(slash);
      if (path.endsWith(DELETED)) {
        path = path.substring(0, path.length() - DELETED.length());
      }
      return new Region(from, to, path);
    }

    void note(String line) {
      if (line.startsWith("Rss:")) {
        resident = bytes(line);
      } else if (line.startsWith("FilePmdMapped:") || line.startsWith("AnonHugePages:")) {
        huge += bytes(line);
      }
    }

    private static long bytes(String line) {
      int end = line.lastIndexOf(" kB");
      return Long.parseLong(line.substring(line.indexOf(':') + 1, end).strip()) << 10;
    }

    MemoryUse use(Set<String> names, Set<Range> ranges) {
      if (names.contains(path)) {
        return new MemoryUse(to - from, resident, huge);
      }
      long ours = 0; // the kernel merges adjacent mappings
      for (Range range : ranges) {
        ours +=
            Math.max(0, Math.min(to, range.address + range.length) - Math.max(from, range.address));
      }
      return new MemoryUse(ours, Math.min(ours, resident), Math.min(ours, huge));
    }
  }
}
