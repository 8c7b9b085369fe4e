package tech.bsdb.tools.source;

import java.io.IOException;
import java.net.URLDecoder;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.ArgumentText;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.input.LocalFiles;

/**
 * Finds the files of inputs on any file system.
 *
 * <p>An input without a scheme, or with {@code file:}, is a local path, read without Hadoop; if the
 * options name a name node, an input without a scheme is on it. Any other input is a URI, opened
 * with the file system from Hadoop's configuration. A directory stands for all files below it,
 * sorted by the bytes of their paths. Names below it that begin with a dot or an underscore are
 * skipped, as in Hadoop, except for directories named {@code _name=value}. An input that does not
 * exist but contains an asterisk, a question mark, a bracket or a brace is a pattern. Files of a
 * table whose log says which of them are current, such as Delta Lake and Iceberg tables, are
 * rejected unless the options request raw files.
 *
 * <p>Not thread-safe, but the files it finds may be used by many threads. Everything it opens,
 * files included, stays open until it is closed.
 */
public final class FileSources implements AutoCloseable {
  private static final Pattern URI = Pattern.compile("([a-zA-Z][a-zA-Z0-9+.-]+):(/.*)");

  private final FileSourceOptions options;
  private final FolderWalk walk;
  private final LocalInputs local;
  private @Nullable HadoopFiles hadoop;

  private FileSources(FileSourceOptions options) {
    this.options = options;
    this.walk = new FolderWalk(options.selection());
    this.local = new LocalInputs(options.selection(), walk);
  }

  /**
   * Opens the sources. Nothing is read, nobody is logged in and no network is used until the first
   * file that is not local is requested.
   *
   * @throws InputException if Hadoop's client is not on the class path
   */
  public static FileSources open(FileSourceOptions options) throws InputException {
    requireHadoop(
        FileSources.class.getClassLoader(),
        "Parquet cannot be read without it, not even from local files");
    return new FileSources(options);
  }

  /**
   * Fails if {@code bsdb.jar} runs without its directory of jars.
   *
   * @param why what it is needed for, as a clause
   */
  static void requireHadoop(ClassLoader classes, String why) throws InputException {
    try {
      Class.forName("org.apache.hadoop.conf.Configuration", /* initialize= */ false, classes);
    } catch (ClassNotFoundException missing) {
      throw new InputException(
          "Hadoop's client is not on the class path, and "
              + why
              + ": run bin/bsdb or bsdb-jar-with-dependencies.jar, or name the jars in lib/hadoop: java"
              + " -cp 'lib/bsdb.jar:lib/hadoop/*' tech.bsdb.tools.Main COMMAND ...",
          missing);
    }
  }

  /**
   * Returns the files in reading order: by input, and sorted within each.
   *
   * @throws InputException if an input has no files, or one that cannot be read; the message names
   *     it
   */
  public List<SourceFile> files(List<String> inputs) throws IOException {
    if (inputs.isEmpty()) {
      throw new IllegalArgumentException("no input is given");
    }
    List<SourceFile> files = new ArrayList<>();
    for (String input : inputs) {
      Matcher file = LocalDirectory.FILE_URI.matcher(input);
      if (file.matches()) {
        files.addAll(local.find(pathOf(file.group(3))));
      } else if (options.nameNode() != null || URI.matcher(input).matches()) {
        files.addAll(remote(input));
      } else {
        files.addAll(local.find(input));
      }
    }
    return List.copyOf(files);
  }

  /** Returns the local databases below the input directories, which were skipped. */
  public List<Path> databases() {
    return List.copyOf(local.databases());
  }

  /** Returns the number of directories that patterns excluded with everything below them. */
  public long directoriesLeftOut() {
    return walk.directoriesLeftOut();
  }

  /**
   * Returns the number of files that patterns excluded, not counting those below excluded
   * directories.
   */
  public long filesLeftOut() {
    return walk.filesLeftOut();
  }

  /** Closes the connections. */
  @Override
  public void close() throws IOException {
    if (hadoop != null) {
      hadoop.close();
    }
  }

  /**
   * Explains to users what went wrong with a file.
   *
   * @param file the name shown to users
   */
  public static InputException explain(String file, Throwable failure) {
    return Failures.explain(file, failure);
  }

  /**
   * Whether a file system could not be opened because of how it was named or what is installed, so
   * that trying again is useless. Otherwise a server may not have answered.
   */
  public static boolean isMistake(IOException failure) {
    boolean mistake = false;
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof UnknownHostException) {
        return false; // Hadoop wraps it as a wrong argument, but names may be known later
      }
      mistake |=
          cause instanceof InputException && cause.getCause() == null
              || cause instanceof IllegalArgumentException
              || cause instanceof ClassNotFoundException
              || cause instanceof LinkageError
              || cause.getClass().getName().endsWith(".UnsupportedFileSystemException");
    }
    return mistake;
  }

  private List<SourceFile> remote(String input) throws IOException {
    if (!ArgumentText.isText(input)) {
      throw new InputException(ArgumentText.shown(input) + ": the path is not UTF-8");
    }
    try {
      if (hadoop == null) {
        hadoop = new HadoopFiles(options, walk);
      }
      return hadoop.find(input);
    } catch (IOException | RuntimeException | LinkageError failure) {
      throw explain(input, failure);
    }
  }

  /**
   * Returns the path in a URI: verbatim if such a file exists, as in Hadoop; otherwise decoded, as
   * browsers write it.
   */
  private static String pathOf(String written) throws InputException {
    if (!written.contains("%") || Files.exists(LocalFiles.path(written))) {
      return written;
    }
    try {
      String decoded = URLDecoder.decode(written.replace("+", "%2B"), StandardCharsets.UTF_8);
      return Files.exists(LocalFiles.path(decoded)) ? decoded : written;
    } catch (IllegalArgumentException | InputException notEncoded) {
      return written;
    }
  }
}
