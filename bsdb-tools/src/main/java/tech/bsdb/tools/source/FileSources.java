package tech.bsdb.tools.source;

import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.ArgumentText;
import tech.bsdb.tools.input.InputException;

/**
 * Finds the files that inputs stand for, wherever they are.
 *
 * <p>An input without a scheme, or with {@code file:}, is a local path, read without Hadoop; with a
 * name node in the options, one without a scheme is on that. Any other is a URI, given to the file
 * system that Hadoop's configuration has for it. A directory stands for all files below it, sorted
 * by the bytes of their paths; names below it that begin with a dot or an underscore are left out,
 * as Hadoop does, but for directories named {@code _name=value}. An input that does not exist but
 * has an asterisk, a question mark, a bracket or a brace in it is a pattern. The files of a table
 * whose log says which of them count, as those of Delta Lake and Iceberg, are refused unless the
 * options want raw files.
 *
 * <p>For one thread; the files that it found are for many. What it opened is open until it is
 * closed, files included.
 */
public final class FileSources implements AutoCloseable {
  private static final Pattern URI = Pattern.compile("([a-zA-Z][a-zA-Z0-9+.-]+):(/.*)");
  private static final Pattern FILE_URI = Pattern.compile("(?i)file:(//(localhost)?(?=/))?(/.*)");

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
   * Opens it. Nothing is read, nobody logged in and no network used before the first file that is
   * not a local one is asked for.
   *
   * @throws InputException if Hadoop's client is not on the class path
   */
  public static FileSources open(FileSourceOptions options) throws InputException {
    requireHadoop(FileSources.class.getClassLoader());
    return new FileSources(options);
  }

  /** Fails where {@code bsdb.jar} runs without the directory of jars that belongs beside it. */
  static void requireHadoop(ClassLoader classes) throws InputException {
    try {
      Class.forName("org.apache.hadoop.conf.Configuration", /* initialize= */ false, classes);
    } catch (ClassNotFoundException missing) {
      throw new InputException(
          "Hadoop's client is not on the class path, and Parquet cannot be read without it, not even"
              + " from local files: run bin/bsdb or bsdb-jar-with-dependencies.jar, or name the jars in"
              + " lib/hadoop: java -cp 'lib/bsdb.jar:lib/hadoop/*' tech.bsdb.tools.Main build-parquet ...",
          missing);
    }
  }

  /**
   * The files in the order to be read: that of the inputs, each sorted.
   *
   * @throws InputException if an input stands for none, or for one that cannot be read; the message
   *     names it
   */
  public List<SourceFile> files(List<String> inputs) throws IOException {
    if (inputs.isEmpty()) {
      throw new IllegalArgumentException("no input is given");
    }
    List<SourceFile> files = new ArrayList<>();
    for (String input : inputs) {
      Matcher file = FILE_URI.matcher(input);
      if (file.matches()) {
        files.addAll(local.find(pathOf(nameOf(file.group(3)))));
      } else if (options.nameNode() != null || URI.matcher(input).matches()) {
        files.addAll(remote(input));
      } else {
        files.addAll(local.find(nameOf(input)));
      }
    }
    return List.copyOf(files);
  }

  /** The local databases below a directory of the inputs, which were left out. */
  public List<Path> databases() {
    return List.copyOf(local.databases());
  }

  /** Directories that patterns left out, with all below them. */
  public long directoriesLeftOut() {
    return walk.directoriesLeftOut();
  }

  /** Files that patterns left out, without those below a directory that was. */
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
   * What went wrong with a file, in words for users.
   *
   * @param file as users know it
   */
  public static InputException explain(String file, Throwable failure) {
    return Failures.explain(file, failure);
  }

  private List<SourceFile> remote(String input) throws IOException {
    if (!ArgumentText.isText(input)) {
      throw new InputException(ArgumentText.shown(input) + ": the path is not UTF-8");
    }
    try {
      if (hadoop == null) {
        hadoop = HadoopFiles.open(options, walk);
      }
      return hadoop.find(input);
    } catch (IOException | RuntimeException | LinkageError failure) {
      throw explain(input, failure);
    }
  }

  /** An input that is a path or a pattern, as Java names files in this locale. */
  private static String nameOf(String input) throws InputException {
    try {
      return ArgumentText.name(input);
    } catch (InvalidPathException noPath) {
      throw new InputException(
          noPath.getInput() + ": not a file name here: " + noPath.getReason(), noPath);
    }
  }

  /** The path in a URI: as it stands, as Hadoop takes it, or else decoded, as browsers write it. */
  private static String pathOf(String written) {
    if (!written.contains("%") || Files.exists(Path.of(written))) {
      return written;
    }
    try {
      String decoded = URLDecoder.decode(written.replace("+", "%2B"), StandardCharsets.UTF_8);
      return Files.exists(Path.of(decoded)) ? decoded : written;
    } catch (IllegalArgumentException notEncoded) {
      return written;
    }
  }
}
