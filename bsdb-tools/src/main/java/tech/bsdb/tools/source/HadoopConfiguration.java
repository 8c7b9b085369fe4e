package tech.bsdb.tools.source;

import java.net.MalformedURLException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputException;

/** The user's Hadoop configuration, with patience of ours where that sets none. */
final class HadoopConfiguration {
  /**
   * What bounds the time until a name node that is down, or a block that nobody has, is an error:
   * some 20 s instead of Hadoop's minutes. Whatever the user's files set wins.
   */
  private static final Map<String, String> PATIENCE =
      Map.of(
          "fs.s3a.input.stream.type", "classic", // "analytics" gives up at the first cut connection
          "fs.s3a.attempts.maximum", "3", // of a request,
          "fs.s3a.retry.limit", "3", // and of what is made of requests
          "ipc.client.connect.max.retries", "5", // refused: a second between them
          "ipc.client.connect.timeout", "6000",
          "ipc.client.connect.max.retries.on.timeouts", "2",
          "ipc.client.connect.max.retries.on.sasl", "2",
          "dfs.client.failover.max.attempts", "7", // of an HA pair, with pauses that grow
          "dfs.client.failover.sleep.max.millis", "4000",
          "dfs.client.retry.window.base", "1000");

  private HadoopConfiguration() {}

  /**
   * Reads it.
   *
   * @throws InputException if the folder that is named holds none
   */
  static Configuration of(FileSourceOptions options) throws InputException {
    HdfsConfiguration.init(); // so that the defaults of HDFS are among those that are loaded
    Configuration configuration = new Configuration();
    Path folder = folder(options);
    if (folder != null) {
      configuration.setClassLoader(new Folder(folder, configuration.getClassLoader()));
    }
    try {
      configuration.size(); // reads the files
    } catch (RuntimeException notXml) {
      throw new InputException(
          (folder == null ? "the class path" : folder)
              + ": Hadoop's configuration cannot be read: "
              + reason(notXml),
          notXml);
    }
    for (Map.Entry<String, String> ours : PATIENCE.entrySet()) {
      if (!isSetByUser(configuration, ours.getKey())) {
        configuration.set(ours.getKey(), ours.getValue(), "bsdb");
      }
    }
    // Ours to close: Hadoop's hook would close them at SIGTERM under the threads that still read.
    configuration.setBoolean("fs.automatic.close", false);
    String nameNode = options.nameNodeUri();
    if (nameNode != null) {
      configuration.set("fs.defaultFS", nameNode, "-nn");
    }
    for (Map.Entry<String, String> setting : options.settings().entrySet()) {
      configuration.set(setting.getKey(), setting.getValue(), "--hadoop-set");
    }
    return configuration;
  }

  private static @Nullable Path folder(FileSourceOptions options) throws InputException {
    Path given = options.hadoopConf();
    if (given != null) {
      if (!Files.isDirectory(given)) {
        throw new InputException("--hadoop-conf " + given + ": no such directory");
      }
      if (!Files.exists(given.resolve("core-site.xml"))
          && !Files.exists(given.resolve("hdfs-site.xml"))) {
        throw new InputException(
            "--hadoop-conf " + given + ": neither core-site.xml nor hdfs-site.xml is in it");
      }
      return given;
    }
    String byDefault = System.getenv("HADOOP_CONF_DIR");
    if (byDefault == null || byDefault.isBlank()) {
      return null;
    }
    if (!Files.isDirectory(Path.of(byDefault))) {
      throw new InputException("HADOOP_CONF_DIR is " + byDefault + ", but there is no directory");
    }
    return Path.of(byDefault);
  }

  private static String reason(RuntimeException failure) {
    Throwable cause = failure.getCause() == null ? failure : failure.getCause();
    String message = String.valueOf(cause.getMessage());
    return message.replaceAll("\\s*\\R\\s*", " ");
  }

  private static boolean isSetByUser(Configuration configuration, String name) {
    String @Nullable [] sources = configuration.getPropertySources(name);
    if (sources != null) {
      for (String source : sources) {
        if (!source.endsWith("-default.xml")) {
          return true;
        }
      }
    }
    return false;
  }

  /**
   * Finds the files of a folder before those of the class path, and of those no {@code *-site.xml}:
   * Hadoop looks for all its configuration, also that of SSL or of a key server, by class loader.
   */
  private static final class Folder extends ClassLoader {
    private final Path folder;

    Folder(Path folder, ClassLoader parent) {
      super(parent);
      this.folder = folder;
    }

    @Override
    public @Nullable URL getResource(String name) {
      Path file = folder.resolve(name);
      try {
        if (Files.isRegularFile(file)) {
          return file.toUri().toURL();
        }
      } catch (MalformedURLException e) {
        throw new IllegalStateException(e);
      }
      return name.endsWith("-site.xml") ? null : super.getResource(name);
    }
  }
}
