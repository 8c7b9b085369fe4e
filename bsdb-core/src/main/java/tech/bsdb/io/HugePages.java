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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tech.bsdb.MemoryUse;

/**
 * Linux statistics on this process's own mappings: how much is in memory, and how much of that in
 * huge pages. Reading them takes milliseconds, because the kernel walks every mapping.
 */
public final class HugePages {
  private static final Path SMAPS = Path.of("/proc/self/smaps");

  /** A mapping: its addresses, four columns without a slash, and its path, if it has one. */
  private static final Pattern HEADER =
      Pattern.compile("(?s)([0-9a-f]+)-([0-9a-f]+) [^/]*(.*?)(?: \\(deleted\\))?");

  private static final Pattern FIGURE =
      Pattern.compile("(Rss|FilePmdMapped|AnonHugePages): *([0-9]+) kB");

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
    long ours = 0; // of the mapping whose figures follow
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      Matcher header = HEADER.matcher(line);
      if (header.matches()) {
        ours = ours(header, names, ranges);
        all = all.plus(new MemoryUse(ours, 0, 0));
      } else if (ours > 0) {
        Matcher figure = FIGURE.matcher(line);
        if (figure.matches()) {
          long bytes = Math.min(ours, Long.parseLong(figure.group(2)) << 10);
          boolean isHuge = !figure.group(1).equals("Rss");
          all = all.plus(new MemoryUse(0, isHuge ? 0 : bytes, isHuge ? bytes : 0));
        }
      }
    }
    return all;
  }

  /** The bytes of a mapping that belong to one of the files or ranges. */
  private static long ours(Matcher header, Set<String> names, Set<Range> ranges) {
    long from = Long.parseUnsignedLong(header.group(1), 16);
    long to = Long.parseUnsignedLong(header.group(2), 16);
    if (names.contains(header.group(3))) {
      return to - from;
    }
    long ours = 0; // the kernel merges adjacent mappings
    for (Range range : ranges) {
      ours +=
          Math.max(0, Math.min(to, range.address + range.length) - Math.max(from, range.address));
    }
    return ours;
  }
}
