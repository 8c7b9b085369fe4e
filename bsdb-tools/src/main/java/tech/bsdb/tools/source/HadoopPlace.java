package tech.bsdb.tools.source;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.input.LocalFiles;

/**
 * A file or directory for a library that reads it with Hadoop's client itself.
 *
 * @param configuration the user's configuration
 * @param path its path with scheme and authority
 * @param shown the path as users know it
 * @param directory whether it is one
 */
public record HadoopPlace(Configuration configuration, Path path, String shown, boolean directory) {
  private static final Pattern SCHEME = Pattern.compile("[a-zA-Z][a-zA-Z0-9+.-]+:/.*");

  /**
   * Finds an input: a local path, or one on any file system of Hadoop, and logs in if the options
   * say so.
   *
   * @throws InputException if there is no such file or directory
   */
  public static HadoopPlace of(String input, FileSourceOptions options) throws IOException {
    FileSources.requireHadoop(
        HadoopPlace.class.getClassLoader(), "tables cannot be read without it");
    try {
      Login login = Login.of(options);
      Configuration configuration = login.configuration();
      // tables name files as the engines that wrote them do, most of which call S3 so
      configuration.setIfUnset("fs.s3.impl", configuration.get("fs.s3a.impl", S3));
      Path given = path(input, options);
      URI uri = HadoopFiles.uri(input, given, configuration);
      login.require(uri.getScheme());
      FileSystem fileSystem = FileSystem.get(uri, configuration);
      Path path = fileSystem.makeQualified(given);
      FileStatus status = fileSystem.getFileStatus(path);
      boolean local = "file".equals(path.toUri().getScheme());
      return new HadoopPlace(
          configuration,
          path,
          local ? path.toUri().getPath() : path.toString(),
          status.isDirectory());
    } catch (FileNotFoundException none) {
      throw new InputException(input + ": no such file or directory", none);
    } catch (IOException | RuntimeException | LinkageError failure) {
      throw FileSources.explain(input, failure);
    }
  }

  private static final String S3 = "org.apache.hadoop.fs.s3a.S3AFileSystem";

  private static Path path(String input, FileSourceOptions options) throws IOException {
    Matcher file = LocalDirectory.FILE_URI.matcher(input);
    boolean local = options.nameNode() == null && !SCHEME.matcher(input).matches();
    if (!file.matches() && !local) {
      return HadoopFiles.path(input);
    }
    String written = file.matches() ? file.group(3) : input;
    String absolute = LocalFiles.path(written).toAbsolutePath().normalize().toString();
    return new Path("file", "", absolute);
  }
}
