package tech.bsdb.tools.source;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.GlobExpander;
import org.apache.hadoop.fs.GlobPattern;
import org.apache.hadoop.fs.Path;

/** Expands patterns of Hadoop's syntax, also where names contain a colon, which Hadoop refuses. */
final class HadoopGlob {
  private HadoopGlob() {}

  /** The files and directories that match, each once. */
  static List<FileStatus> expand(FileSystem fileSystem, Path pattern) throws IOException {
    Map<Path, FileStatus> matches = new LinkedHashMap<>();
    for (String alternative : GlobExpander.expand(pattern.toUri().getPath())) {
      Path root = fileSystem.makeQualified(new Path("/"));
      List<FileStatus> at = new ArrayList<>(List.of(new FileStatus(0, true, 1, 1, 0, root)));
      for (String part : alternative.split("/", -1)) {
        if (!part.isEmpty()) {
          at = below(fileSystem, at, part);
        }
      }
      at.forEach(match -> matches.putIfAbsent(match.getPath(), match));
    }
    return List.copyOf(matches.values());
  }

  private static List<FileStatus> below(
      FileSystem fileSystem, List<FileStatus> directories, String part) throws IOException {
    GlobPattern pattern = new GlobPattern(part);
    List<FileStatus> matches = new ArrayList<>();
    for (FileStatus directory : directories) {
      if (!directory.isDirectory()) {
        continue;
      }
      if (!pattern.hasWildcard()) {
        // not listed: those above may be forbidden, and only what matches in the end must exist
        FileStatus named =
            HadoopFiles.statusOf(fileSystem, child(directory, part.replaceAll("\\\\(.)", "$1")));
        if (named != null) {
          matches.add(named);
        }
        continue;
      }
      for (FileStatus entry : HadoopFiles.list(fileSystem, directory.getPath())) {
        if (pattern.matches(entry.getPath().getName())) {
          matches.add(entry);
        }
      }
    }
    return matches;
  }

  /** A path below another; its name is not parsed, in which a colon would end a scheme. */
  private static Path child(FileStatus directory, String name) {
    Path parent = directory.getPath();
    String path = parent.isRoot() ? "/" + name : parent.toUri().getPath() + "/" + name;
    return new Path(parent.toUri().getScheme(), parent.toUri().getAuthority(), path);
  }
}
