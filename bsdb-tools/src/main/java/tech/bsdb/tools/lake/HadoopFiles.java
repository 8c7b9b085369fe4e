package tech.bsdb.tools.lake;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.input.LocalFiles;

/**
 * Finds files on Hadoop's file systems. Each file system is opened once and is ours alone: none
 * comes from Hadoop's cache, and so none stays there.
 */
final class HadoopFiles implements AutoCloseable {
  private static final Comparator<FileStatus> BY_BYTES_OF_PATH =
      Comparator.comparing(
          status -> status.getPath().toUri().getPath().getBytes(StandardCharsets.UTF_8),
          Arrays::compareUnsigned);

  private final Configuration configuration;
  private final Login login;
  private final Map<String, FileSystem> fileSystems = new LinkedHashMap<>();

  private HadoopFiles(Configuration configuration, Login login) {
    this.configuration = configuration;
    this.login = login;
  }

  /** Reads the configuration and logs in where a keytab is given. */
  static HadoopFiles open(LakeOptions options) throws IOException {
    Configuration configuration = HadoopConfiguration.of(options);
    return new HadoopFiles(configuration, Login.of(options, configuration));
  }

  /**
   * The files that an input stands for, sorted.
   *
   * @throws InputException if there are none
   */
  List<LakeFile> find(String input) throws IOException {
    Path given = path(input);
    FileSystem fileSystem = fileSystem(input, given);
    Path path = fileSystem.makeQualified(given);
    List<FileStatus> found = new ArrayList<>();
    FileStatus status = statusOf(fileSystem, path);
    if (status != null) {
      add(fileSystem, status, found);
    } else if (LocalGlob.isPattern(path.toString())) {
      for (FileStatus match : matches(fileSystem, path)) {
        add(fileSystem, match, found);
      }
    } else {
      throw new InputException(path + ": no such file or directory");
    }
    if (found.isEmpty()) {
      throw new InputException(
          status == null
              ? path + ": no file matches the pattern"
              : path
                  + ": no input files in this directory (names that begin with . or _ are left"
                  + " out)");
    }
    found.sort(BY_BYTES_OF_PATH);
    return found.stream().map(file -> new HadoopParquet(fileSystem, file).named()).toList();
  }

  /** On the name node of the options, or below the user's home there, where it has no scheme. */
  private static Path path(String input) throws IOException {
    try {
      boolean uri = input.matches("[a-zA-Z][a-zA-Z0-9+.-]+:/.*");
      return uri ? new Path(input) : new Path(null, null, input);
    } catch (IllegalArgumentException e) {
      throw new InputException(input + ": not a path: " + e.getMessage(), e);
    }
  }

  private FileSystem fileSystem(String input, Path path) throws IOException {
    URI uri = path.toUri();
    URI byDefault = FileSystem.getDefaultUri(configuration);
    if (uri.getAuthority() == null
        && (uri.getScheme() == null || uri.getScheme().equals(byDefault.getScheme()))) {
      uri = byDefault;
    }
    if (uri.getAuthority() == null && "hdfs".equals(uri.getScheme())) {
      throw new InputException(
          input
              + ": no name node: write hdfs://HOST/PATH, name one with -nn, or the cluster's"
              + " configuration with --hadoop-conf");
    }
    login.require(uri.getScheme());
    String key = uri.getScheme() + "://" + uri.getAuthority();
    FileSystem open = fileSystems.get(key);
    if (open == null) {
      open = FileSystem.newInstance(uri, configuration);
      fileSystems.put(key, open);
    }
    return open;
  }

  private static @Nullable FileStatus statusOf(FileSystem fileSystem, Path path)
      throws IOException {
    try {
      return fileSystem.getFileStatus(path);
    } catch (FileNotFoundException none) {
      return null;
    }
  }

  private static List<FileStatus> matches(FileSystem fileSystem, Path pattern) throws IOException {
    boolean hidden = !LocalFiles.isData(pattern.getName());
    FileStatus @Nullable [] matches =
        fileSystem.globStatus(pattern, path -> hidden || LocalFiles.isData(path.getName()));
    return matches == null ? List.of() : List.of(matches);
  }

  private static void add(FileSystem fileSystem, FileStatus status, List<FileStatus> to)
      throws IOException {
    if (!status.isDirectory()) {
      to.add(status);
      return;
    }
    try {
      RemoteIterator<FileStatus> below = fileSystem.listStatusIterator(status.getPath());
      while (below.hasNext()) {
        FileStatus one = below.next();
        if (LocalFiles.isData(one.getPath().getName())) {
          add(fileSystem, one, to);
        }
      }
    } catch (IOException | RuntimeException failure) {
      throw Lake.explain(status.getPath().toString(), failure);
    }
  }

  @Override
  public void close() throws IOException {
    @Nullable IOException first = null;
    for (FileSystem fileSystem : fileSystems.values()) {
      try {
        fileSystem.close();
      } catch (IOException failure) {
        first = first == null ? failure : first;
      }
    }
    fileSystems.clear();
    if (first != null) {
      throw first;
    }
  }
}
