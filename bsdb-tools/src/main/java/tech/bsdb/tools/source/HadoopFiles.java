package tech.bsdb.tools.source;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.GlobExpander;
import org.apache.hadoop.fs.GlobPattern;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.security.AccessControlException;
import org.apache.parquet.hadoop.util.HadoopStreams;
import org.apache.parquet.io.InputFile;
import org.apache.parquet.io.SeekableInputStream;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.input.LocalFiles;
import tech.bsdb.tools.source.TableFormat.Tables;
import tech.bsdb.tools.source.TableFormat.Tree;

/**
 * Finds files on Hadoop file systems. Each file system is opened once and not shared: none comes
 * from Hadoop's cache, so none stays there.
 */
final class HadoopFiles implements AutoCloseable {
  private static final Comparator<FileStatus> BY_BYTES_OF_PATH =
      Comparator.comparing(
          status -> status.getPath().toUri().getPath().getBytes(StandardCharsets.UTF_8),
          Arrays::compareUnsigned);

  private final Login login;
  private final FolderSelection selection;
  private final FolderWalk walk;
  private final Map<String, FileSystem> fileSystems = new LinkedHashMap<>();
  private final IdentityHashMap<FileSystem, Tables<Path>> allTables = new IdentityHashMap<>();

  /** Reads the configuration, and logs in if a keytab is given. */
  HadoopFiles(FileSourceOptions options, FolderWalk walk) throws IOException {
    this.login = Login.of(options);
    this.selection = options.selection();
    this.walk = walk;
  }

  /**
   * Returns the files of an input, sorted.
   *
   * @throws InputException if there are none
   */
  List<SourceFile> find(String input) throws IOException {
    Path given = path(input);
    FileSystem fileSystem = fileSystem(input, given);
    Path path = fileSystem.makeQualified(given);
    long leftOut = walk.leftOut();
    FileStatus status = statusOf(fileSystem, path);
    Finding finding;
    if (status != null) {
      Path parent = path.getParent();
      finding =
          new Finding(fileSystem, status.isDirectory() || parent == null ? path : parent, false);
      finding.add(status);
    } else if (LocalGlob.isPattern(pathOf(path))) {
      URI uri = path.toUri();
      String fixed = LocalGlob.fixedPart(pathOf(path));
      Path base = new Path(uri.getScheme(), uri.getAuthority(), fixed.isEmpty() ? "/" : fixed);
      finding = new Finding(fileSystem, base, true);
      for (FileStatus match : matches(fileSystem, path)) {
        finding.add(match);
      }
    } else {
      throw new InputException(path + ": no such file or directory");
    }
    if (finding.found.isEmpty()) {
      throw walk.nothing(path, leftOut, status == null);
    }
    return finding.files();
  }

  /**
   * Returns an input's path. Without a scheme it is on the name node of the options; if relative,
   * below the user's home there.
   */
  static Path path(String input) throws IOException {
    try {
      boolean uri = input.matches("[a-zA-Z][a-zA-Z0-9+.-]+:/.*");
      return uri ? new Path(input) : new Path(null, null, input);
    } catch (IllegalArgumentException e) {
      throw new InputException(input + ": not a path: " + e.getMessage(), e);
    }
  }

  /**
   * Returns the URI of the file system of a path.
   *
   * @param input the path as the user wrote it
   */
  static URI uri(String input, Path path, Configuration configuration) throws InputException {
    URI uri = path.toUri();
    URI byDefault = FileSystem.getDefaultUri(configuration);
    if (uri.getAuthority() == null
        && (uri.getScheme() == null || uri.getScheme().equals(byDefault.getScheme()))) {
      uri = byDefault;
    }
    if (uri.getAuthority() == null && "hdfs".equals(uri.getScheme())) {
      throw new InputException(
          input
              + ": no name node: write hdfs://HOST/PATH, name one with -nn, or give the"
              + " cluster's configuration with --hadoop-conf");
    }
    return uri;
  }

  private FileSystem fileSystem(String input, Path path) throws IOException {
    URI uri = uri(input, path, login.configuration());
    login.require(uri.getScheme());
    String key = uri.getScheme() + "://" + uri.getAuthority();
    FileSystem open = fileSystems.get(key);
    if (open == null) {
      open = FileSystem.newInstance(uri, login.configuration());
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
    List<FileStatus> wanted = new ArrayList<>();
    for (FileStatus match : expand(fileSystem, pattern)) {
      if (hidden || FolderWalk.isData(match.getPath().getName(), match.isDirectory())) {
        wanted.add(match);
      }
    }
    return wanted;
  }

  /**
   * Returns the files and directories that match a pattern of Hadoop's syntax, each once, also
   * where names contain a colon, which Hadoop refuses.
   */
  private static List<FileStatus> expand(FileSystem fileSystem, Path pattern) throws IOException {
    Map<Path, FileStatus> matches = new LinkedHashMap<>();
    for (String alternative : GlobExpander.expand(pattern.toUri().getPath())) {
      Path root = fileSystem.makeQualified(new Path("/"));
      List<FileStatus> at = new ArrayList<>(List.of(new FileStatus(0, true, 1, 1, 0, root)));
      for (String part : alternative.split("/", -1)) {
        if (!part.isEmpty()) {
          at = matching(fileSystem, at, part);
        }
      }
      at.forEach(match -> matches.putIfAbsent(match.getPath(), match));
    }
    return List.copyOf(matches.values());
  }

  private static List<FileStatus> matching(
      FileSystem fileSystem, List<FileStatus> directories, String part) throws IOException {
    GlobPattern pattern = new GlobPattern(part);
    List<FileStatus> matches = new ArrayList<>();
    for (FileStatus directory : directories) {
      if (!directory.isDirectory()) {
        continue;
      }
      if (!pattern.hasWildcard()) {
        // not listed: those above may be forbidden, and only what matches in the end must exist
        FileStatus named = statusOf(fileSystem, child(directory, part.replaceAll("\\\\(.)", "$1")));
        if (named != null) {
          matches.add(named);
        }
        continue;
      }
      for (FileStatus entry : list(fileSystem, directory.getPath())) {
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

  private static List<FileStatus> list(FileSystem fileSystem, Path directory) throws IOException {
    List<FileStatus> entries = new ArrayList<>();
    RemoteIterator<FileStatus> all = fileSystem.listStatusIterator(directory);
    while (all.hasNext()) {
      entries.add(all.next());
    }
    return entries;
  }

  private static String pathOf(Path path) {
    return path.toUri().getPath();
  }

  /** The files of one input. */
  private final class Finding {
    private final FileSystem fileSystem;
    private final Tables<Path> tables;
    private final Path base;
    private final String basePath;

    /** Whether entries were found by a pattern instead of named. */
    private final boolean pattern;

    private final List<FileStatus> found = new ArrayList<>();
    private final EmptyParts emptyParts = new EmptyParts();

    /**
     * Creates an empty result.
     *
     * @param base the directory to which paths are relative: the input's fixed part
     */
    Finding(FileSystem fileSystem, Path base, boolean pattern) {
      this.fileSystem = fileSystem;
      this.tables = allTables.computeIfAbsent(fileSystem, of -> new Tables<>(new HadoopTree(of)));
      this.base = base;
      this.basePath = pathOf(base);
      this.pattern = pattern;
    }

    private String relative(Path path) {
      String below = pathOf(path).substring(basePath.length());
      return below.startsWith("/") ? below.substring(1) : below;
    }

    /** Adds a file, or the files below a directory. */
    void add(FileStatus status) throws IOException {
      if (status.isDirectory()) {
        if (walk.enters(base.toString(), relative(status.getPath()))) {
          addBelow(status.getPath());
          if ("s3a".equals(fileSystem.getUri().getScheme())) {
            emptyParts.refuse(fileSystem, status.getPath());
          }
        }
      } else if (!pattern || walk.takes(base.toString(), relative(status.getPath()))) {
        found.add(status);
      }
    }

    private void addBelow(Path directory) throws IOException {
      try {
        List<FileStatus> below = list(fileSystem, directory);
        tables.inspect(directory, name -> hasDirectory(below, name)); // not listed again
        emptyParts.listed(directory, below);
        for (FileStatus one : below) {
          String name = one.getPath().getName();
          if (!FolderWalk.isData(name, one.isDirectory())) {
            continue;
          }
          String path = relative(one.getPath());
          if (!one.isDirectory()) {
            if (walk.takes(base.toString(), path)) {
              found.add(one);
            }
          } else if (walk.enters(base.toString(), path) && !tables.isLog(one.getPath(), name)) {
            addBelow(one.getPath());
          }
        }
      } catch (IOException | RuntimeException failure) {
        throw FileSources.explain(directory.toString(), failure);
      }
    }

    private static boolean hasDirectory(List<FileStatus> entries, String name) {
      return entries.stream()
          .anyMatch(entry -> entry.isDirectory() && entry.getPath().getName().equals(name));
    }

    /** Returns the added files, sorted, after checking that they belong to no table. */
    List<SourceFile> files() throws IOException {
      found.sort(BY_BYTES_OF_PATH);
      List<SourceFile> files = new ArrayList<>();
      for (FileStatus file : found) {
        Path parent = file.getPath().getParent();
        if (!selection.rawFiles() && parent != null) {
          tables.check(parent);
        }
        files.add(
            new HadoopParquet(fileSystem, file)
                .named(FolderWalk.partitions(basePath, relative(file.getPath()))));
      }
      return files;
    }
  }

  /**
   * Finds objects whose names have an empty part, such as {@code data//a.parquet}. S3's connector
   * neither lists them in a directory nor opens them, but shows them in a listing of all objects.
   */
  private static final class EmptyParts {
    private final Set<Path> directories = new HashSet<>();
    private final Set<Path> entries = new HashSet<>();

    void listed(Path directory, List<FileStatus> below) {
      directories.add(directory);
      below.forEach(one -> entries.add(one.getPath()));
    }

    void refuse(FileSystem fileSystem, Path directory) throws IOException {
      Set<Path> all = new HashSet<>();
      RemoteIterator<? extends FileStatus> files = fileSystem.listFiles(directory, true);
      while (files.hasNext()) {
        Path file = files.next().getPath();
        Path entry = file;
        for (Path up = file.getParent(); up != null && !directories.contains(up); ) {
          entry = up;
          up = up.getParent();
        }
        if (!entries.contains(entry) || !all.add(file)) {
          throw new InputException(
              directory
                  + ": the name of an object there, "
                  + file
                  + " as Hadoop shows it, has an empty part (//), so that it cannot be read; rename it");
        }
      }
    }
  }

  private record HadoopTree(FileSystem fileSystem) implements Tree<Path> {
    @Override
    public boolean hasDirectory(Path directory, String name) throws IOException {
      try {
        FileStatus status = statusOf(fileSystem, new Path(directory, name));
        return status != null && status.isDirectory();
      } catch (AccessControlException | AccessDeniedException notOurs) {
        return false;
      }
    }

    @Override
    public List<String> names(Path directory, String name) throws IOException {
      try {
        return list(fileSystem, new Path(directory, name)).stream()
            .map(file -> file.getPath().getName())
            .toList();
      } catch (AccessControlException | AccessDeniedException notOurs) {
        return List.of();
      }
    }

    @Override
    public @Nullable Path parent(Path directory) {
      return directory.getParent();
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

  /**
   * A file on a Hadoop file system, as a Parquet input.
   *
   * @param status the file's status when the inputs were listed
   */
  private record HadoopParquet(FileSystem fileSystem, FileStatus status) implements InputFile {
    /** The read policy, a hint to stores: the first one they support applies. */
    private static final String READ_POLICY = "parquet, columnar, vector, random, adaptive";

    SourceFile named(List<String> partitions) {
      return new SourceFile(toString(), getLength(), this, null, partitions);
    }

    @Override
    public long getLength() {
      return status.getLen();
    }

    @Override
    public SeekableInputStream newStream() throws IOException {
      try {
        return HadoopStreams.wrap(open());
      } catch (IOException | RuntimeException failure) {
        throw FileSources.explain(toString(), failure);
      }
    }

    private FSDataInputStream open() throws IOException {
      try {
        return fileSystem
            .openFile(status.getPath())
            .withFileStatus(status)
            .opt("fs.option.openfile.read.policy", READ_POLICY)
            .build()
            .get();
      } catch (ExecutionException failure) {
        throw FileSources.explain(toString(), failure);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException(this + ": interrupted");
      }
    }

    @Override
    public String toString() {
      return status.getPath().toString();
    }
  }
}
