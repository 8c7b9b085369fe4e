package tech.bsdb.tools.lake;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.UsageException;

/**
 * What is needed to reach the files.
 *
 * @param nameNode of paths without a scheme: {@code host}, {@code host:port}, the name service of
 *     an HA pair, or any of them as a URI; null where such paths are local
 * @param hadoopConf the folder of the cluster's {@code core-site.xml} and {@code hdfs-site.xml};
 *     null for {@code $HADOOP_CONF_DIR} or else the class path
 * @param settings what wins over the configuration, by name
 * @param principal whom to log in as, with the keytab; null for whoever has a ticket already
 * @param keytab the principal's keys; null without a principal
 */
public record LakeOptions(
    @Nullable String nameNode,
    @Nullable Path hadoopConf,
    Map<String, String> settings,
    @Nullable String principal,
    @Nullable Path keytab) {

  private static final String HOST = "([\\w.-]+|\\[[0-9a-fA-F:.]+])(:\\d{1,5})?";
  private static final Pattern NAME_NODE =
      Pattern.compile(HOST + "|[a-zA-Z][a-zA-Z0-9+.-]*://" + HOST + "/?");

  /** Copies the settings. */
  public LakeOptions {
    settings = Map.copyOf(settings);
    if ((principal == null) != (keytab == null)) {
      throw new IllegalArgumentException("principal " + principal + " with keytab " + keytab);
    }
  }

  /** Those of someone who has local files only. */
  public static LakeOptions local() {
    return new LakeOptions(null, null, Map.of(), null, null);
  }

  /**
   * Reads the options as users write them: {@code -nn}, {@code --hadoop-conf}, each {@code
   * --hadoop-set}, {@code --principal} and {@code --keytab}.
   */
  public static LakeOptions of(
      @Nullable String nameNode,
      @Nullable Path hadoopConf,
      List<String> settings,
      @Nullable String principal,
      @Nullable Path keytab)
      throws UsageException {
    if (nameNode != null && !NAME_NODE.matcher(nameNode).matches()) {
      throw new UsageException(
          "-nn "
              + nameNode
              + ": expects HOST, HOST:PORT, hdfs://HOST:PORT or the name service of an HA pair");
    }
    checkLogin(principal, keytab);
    return new LakeOptions(nameNode, hadoopConf, parsed(settings), principal, keytab);
  }

  /** Checks that a principal and a keytab come together or not at all. */
  public static void checkLogin(@Nullable String principal, @Nullable Path keytab)
      throws UsageException {
    if (principal != null && keytab == null) {
      throw new UsageException(
          "--principal "
              + principal
              + " needs --keytab FILE with its key (after kinit neither is needed)");
    }
    if (keytab != null && principal == null) {
      throw new UsageException(
          "--keytab "
              + keytab
              + " needs --principal NAME (klist -kt FILE lists whose keys it has)");
    }
    if (principal != null && principal.isBlank()) {
      throw new UsageException("--principal: the name is empty");
    }
  }

  private static Map<String, String> parsed(List<String> settings) throws UsageException {
    Map<String, String> byName = new LinkedHashMap<>();
    for (String setting : settings) {
      int equals = setting.indexOf('=');
      String name = equals < 0 ? "" : setting.substring(0, equals).strip();
      if (name.isEmpty()) {
        throw new UsageException(
            "--hadoop-set "
                + setting
                + ": expects NAME=VALUE, as in fs.defaultFS=hdfs://namenode:8020");
      }
      byName.put(name, setting.substring(equals + 1));
    }
    return byName;
  }

  /** The name node as a URI without a path, or null. */
  @Nullable String nameNodeUri() {
    if (nameNode == null) {
      return null;
    }
    String uri = nameNode.contains("://") ? nameNode : "hdfs://" + nameNode;
    return uri.endsWith("/") ? uri.substring(0, uri.length() - 1) : uri;
  }
}
