package tech.bsdb.tools.source;

import java.net.MalformedURLException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputException;

/**
 * Loads the user's Hadoop configuration, with bsdb's own timeouts and retries where it sets none.
 */
final class HadoopConfiguration {
  /**
   * Bounds the time until a name node that is down, or a missing block, becomes an error: about 20
   * s instead of Hadoop's minutes. Settings in the user's files take precedence.
   */
  private static final Map<String, String> RETRY_LIMITS =
      Map.of(
          "fs.s3a.input.stream.type", "classic", // "analytics" gives up at the first cut connection
          "fs.s3a.attempts.maximum", "3", // per request,
          "fs.s3a.retry.limit", "3", // and per operation made of requests
          "ipc.client.connect.max.retries", "5", // connection refused: one second apart
          "ipc.client.connect.timeout", "6000",
          "ipc.client.connect.max.retries.on.timeouts", "2",
          "ipc.client.connect.max.retries.on.sasl", "2",
          "dfs.client.failover.max.attempts", "7", // in an HA pair, with growing pauses
          "dfs.client.failover.sleep.max.millis", "4000",
          "dfs.client.retry.window.base", "1000");

  /** Of S3's connector: how often it asks again, with pauses in between. */
  private static final Map<String, String> ONCE =
      Map.of(
          "fs.s3a.attempts.maximum", "1",
          "fs.s3a.retry.limit", "0",
          "fs.s3a.retry.throttle.limit", "0");

  /** Marks the settings that are bsdb's own. */
  private static final String OURS = "bsdb";

  /**
   * How S3's credentials are found: Hadoop's own settings first, then the chain that all programs
   * of Amazon's SDK use: environment, profiles with SSO, web identity, container, machine.
   */
  private static final Map<String, String> CREDENTIALS =
      Map.of(
          "fs.s3a.aws.credentials.provider",
          String.join(
              ",",
              "org.apache.hadoop.fs.s3a.TemporaryAWSCredentialsProvider",
              "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
              "software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider"));

  private HadoopConfiguration() {}

  /**
   * Reads the configuration.
   *
   * @throws InputException if the named folder holds no configuration
   */
  static Configuration of(FileSourceOptions options) throws InputException {
    HdfsConfiguration.init(); // loads the defaults of HDFS too
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
    setUnlessSet(configuration, RETRY_LIMITS);
    setUnlessSet(configuration, CREDENTIALS);
    // bsdb closes file systems itself: on SIGTERM Hadoop's hook would close them while threads
    // still read.
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

  private static void setUnlessSet(Configuration configuration, Map<String, String> settings) {
    settings.forEach(
        (name, value) -> {
          if (!isSetByUser(configuration, name)) {
            configuration.set(name, value, OURS);
          }
        });
  }

  /** Returns a configuration with which cut connections to S3 are resumed, unless it says how. */
  static Configuration resuming(Configuration configuration) {
    String stream = "fs.s3a.input.stream.type";
    if (isSetByUser(configuration, stream)) {
      return configuration;
    }
    Configuration resuming = new Configuration(configuration);
    resuming.set(stream, "classic", OURS);
    return resuming;
  }

  /**
   * Returns a configuration with which S3 is asked once for everything, unless it says otherwise.
   */
  static Configuration once(Configuration configuration) {
    Configuration once = new Configuration(configuration);
    setUnlessSet(once, ONCE);
    return once;
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
      throw new InputException("HADOOP_CONF_DIR is " + byDefault + ", which is not a directory");
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
    return sources != null
        && Arrays.stream(sources)
            .anyMatch(source -> !source.endsWith("-default.xml") && !source.equals(OURS));
  }

  /**
   * Finds the files of a folder before those of the class path, and no {@code *-site.xml} on the
   * class path: Hadoop looks up all its configuration by class loader, including that for SSL and
   * key servers.
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
