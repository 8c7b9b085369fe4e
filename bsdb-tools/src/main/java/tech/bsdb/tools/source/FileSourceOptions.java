package tech.bsdb.tools.source;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.UsageException;

/**
 * Options for reaching the files.
 *
 * @param nameNode the name node for paths without a scheme: {@code host}, {@code host:port}, the
 *     name service of an HA pair, or any of them as a URI; null if such paths are local
 * @param hadoopConf the folder of the cluster's {@code core-site.xml} and {@code hdfs-site.xml};
 *     null for {@code $HADOOP_CONF_DIR}, or the class path if that is unset
 * @param settings settings that override the configuration, by name
 * @param principal the principal to log in as with the keytab; null to use an existing ticket
 * @param keytab the file with the principal's keys; null without a principal
 * @param selection which files below directories to read
 */
public record FileSourceOptions(
    @Nullable String nameNode,
    @Nullable Path hadoopConf,
    Map<String, String> settings,
    @Nullable String principal,
    @Nullable Path keytab,
    FolderSelection selection) {

  private static final Pattern NAME_NODE =
      Pattern.compile(
          "((?<scheme>[a-zA-Z][a-zA-Z0-9+.-]*)://)?([\\w.-]+|\\[[0-9a-fA-F:.]+])(:(?<port>\\d{1,5}))?"
              + "(?<slash>/?)");

  /** Schemes that have a host but are not file systems for input paths. */
  private static final Set<String> NO_NAME_NODE = Set.of("http", "https", "file", "ftp", "sftp");

  /** Copies the settings. */
  public FileSourceOptions {
    settings = Map.copyOf(settings);
    if ((principal == null) != (keytab == null)) {
      throw new IllegalArgumentException("principal " + principal + " with keytab " + keytab);
    }
  }

  /** Creates options that select all files. */
  public FileSourceOptions(
      @Nullable String nameNode,
      @Nullable Path hadoopConf,
      Map<String, String> settings,
      @Nullable String principal,
      @Nullable Path keytab) {
    this(nameNode, hadoopConf, settings, principal, keytab, FolderSelection.ALL);
  }

  /** Returns these options with another selection of files. */
  public FileSourceOptions withSelection(FolderSelection other) {
    return new FileSourceOptions(nameNode, hadoopConf, settings, principal, keytab, other);
  }

  /** Returns the options for local files only. */
  public static FileSourceOptions local() {
    return new FileSourceOptions(null, null, Map.of(), null, null);
  }

  /** Parses the options that were declared, and the selection of files where it was. */
  public static FileSourceOptions of(Arguments arguments) throws UsageException {
    return of(
            arguments.text("-nn").orElse(null),
            arguments.path("--hadoop-conf").orElse(null),
            arguments.all("--hadoop-set"),
            arguments.text("--principal").orElse(null),
            arguments.path("--keytab").orElse(null))
        .withSelection(
            FolderSelection.of(
                arguments.all("--include"),
                arguments.all("--exclude"),
                arguments.has("--raw-files")));
  }

  /**
   * Parses the options as users write them: {@code -nn}, {@code --hadoop-conf}, each {@code
   * --hadoop-set}, {@code --principal} and {@code --keytab}.
   */
  public static FileSourceOptions of(
      @Nullable String nameNode,
      @Nullable Path hadoopConf,
      List<String> settings,
      @Nullable String principal,
      @Nullable Path keytab)
      throws UsageException {
    checkNameNode(nameNode);
    checkLogin(principal, keytab);
    return new FileSourceOptions(nameNode, hadoopConf, parsed(settings), principal, keytab);
  }

  private static void checkNameNode(@Nullable String nameNode) throws UsageException {
    if (nameNode == null) {
      return;
    }
    Matcher parts = NAME_NODE.matcher(nameNode);
    boolean known =
        parts.matches() && (parts.group("scheme") != null || parts.group("slash").isEmpty());
    String scheme = known && parts.group("scheme") != null ? parts.group("scheme") : "hdfs";
    if (!known || NO_NAME_NODE.contains(scheme.toLowerCase(Locale.ROOT))) {
      throw new UsageException(
          "-nn %s: expects HOST, HOST:PORT, hdfs://HOST:PORT or the name service of an HA pair%s"
              .formatted(
                  nameNode, known ? ", not " + scheme + "://; use its RPC port (often 8020)" : ""));
    }
    String port = parts.group("port");
    if (port != null && (Integer.parseInt(port) < 1 || Integer.parseInt(port) > 65_535)) {
      throw new UsageException("-nn " + nameNode + ": a port must be a number from 1 to 65535");
    }
  }

  /** Checks that a principal and a keytab are given together or not at all. */
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

  /** Returns the name node as a URI without a path, or null. */
  @Nullable String nameNodeUri() {
    if (nameNode == null) {
      return null;
    }
    String uri = nameNode.contains("://") ? nameNode : "hdfs://" + nameNode;
    return uri.endsWith("/") ? uri.substring(0, uri.length() - 1) : uri;
  }
}
