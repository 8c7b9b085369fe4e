package tech.bsdb.tools.source;

import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.function.BiFunction;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.Diagnosis;
import tech.bsdb.tools.input.InputException;

/**
 * Turns exceptions from Hadoop, Kerberos and the network into messages for users. It matches names
 * and messages: servers send their exceptions as text, and every cluster may run a different
 * Hadoop.
 */
final class Failures {
  /** Begins a message that does not name the file. */
  private static final String OF_NAME_NODE = "name node ";

  /** The jars of the file systems that Hadoop's client does not include. */
  private static final Map<String, String> JARS =
      Map.of(
          "s3a",
              "hadoop-aws, the AWS SDK's bundle, analyticsaccelerator-s3 and commons-lang3"
                  + " (scripts/fetch-s3 DIR fetches all four)",
          "abfs", "hadoop-azure",
          "abfss", "hadoop-azure",
          "wasb", "hadoop-azure",
          "wasbs", "hadoop-azure",
          "gs", "the Cloud Storage connector",
          "oss", "hadoop-aliyun",
          "obs", "hadoop-huaweicloud",
          "cosn", "hadoop-cos",
          "ofs", "ozone-filesystem-hadoop3-client");

  /**
   * Rules from an exception, as {@code Type: message}, to a message. The first rule that matches
   * any exception of the chain applies, so specific rules precede general ones.
   */
  private static final List<Rule> RULES =
      List.of(
          // Kerberos: client and servers
          rule(
              "Clock skew too great",
              "Kerberos: this machine's clock and the KDC's differ too much; set the clock"),
          rule(
              "Client not found in Kerberos database",
              "Kerberos: the KDC does not know this principal"),
          rule(
              "LoginException: .*(Checksum failed|Integrity check on decrypted field failed|Pre-?authentication"
                  + " (information was invalid|failed))",
              "Kerberos: the keytab's key is not the principal's; has its password changed since?"),
          rule(
              "LoginException: Unable to obtain password from user",
              "Kerberos: the keytab holds no key of this principal (klist -kte FILE lists those it holds)"),
          rule(
              "Cannot locate KDC|Unable to locate KDC for realm",
              "Kerberos: no KDC is known for the realm; name it in /etc/krb5.conf, or in another file with"
                  + " BSDB_JAVA_OPTS=-Djava.security.krb5.conf=FILE"),
          rule(
              "LoginException: .*(Connection refused|[Tt]imed out|ICMP Port Unreachable|No route to host|UnknownHost)",
              "Kerberos: the KDC does not answer; is it up, and is it the one in /etc/krb5.conf?"),
          rule(
              "(UnknownHostException|LoginException): .*kdc.*",
              "Kerberos: the KDC of /etc/krb5.conf is not a known host"),
          rule(
              "Can't get Kerberos realm|Cannot locate default realm|default_realm",
              "Kerberos is not configured here: /etc/krb5.conf is missing or names no default realm (another"
                  + " file: BSDB_JAVA_OPTS=-Djava.security.krb5.conf=FILE)"),
          rule(
              "Server not found in Kerberos database",
              "Kerberos: the KDC does not know the server by this name; write its full host name"),
          rule(
              "Failed to specify server's Kerberos principal name",
              "the configuration does not say the name node's principal: give the cluster's with"
                  + " --hadoop-conf DIR, or --hadoop-set dfs.namenode.kerberos.principal=hdfs/_HOST@REALM"),
          rule(
              "Server has invalid Kerberos principal: (\\S+?),?(?: expecting: (\\S+))?$",
              "the name node's principal is not the one in the configuration"
                  + " (dfs.namenode.kerberos.principal): {all}"),
          rule(
              "SIMPLE authentication is not enabled",
              "the cluster requires Kerberos, but the configuration says simple: give the cluster's with"
                  + " --hadoop-conf DIR, or --hadoop-set hadoop.security.authentication=kerberos"),
          rule(
              "Server asks us to fall back to SIMPLE auth",
              "the configuration requires Kerberos, but the cluster does not use it (if that is right: --hadoop-set"
                  + " ipc.client.fallback-to-simple-auth-allowed=true)"),
          rule(
              "Failed to find any Kerberos|Client cannot authenticate via|GSS initiate failed.*ticket",
              (fault, match) -> Login.noTicket()),
          rule("GSSException: (.+)", "Kerberos: {1}"),
          rule(
              "LoginException: .*invalid null input: name",
              "this process's user has no name here, which Kerberos needs: add its number to"
                  + " /etc/passwd"),
          rule("(?:LoginException|KerberosAuthException): (.+)", "Kerberos: {1}"),
          rule(
              "token .* (?:can't be found in cache|is expired)|InvalidToken: (.+)",
              "the access token is no longer valid: {all}"),
          // S3
          rule(
              "NoAuthWithAWSException|Unable to load credentials",
              "no credentials for S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
                  + " (with SSO: aws sso login), or give this machine or pod a role"),
          rule("UnknownStoreException|NoSuchBucket", "no such bucket"),
          rule(
              "(?s)\\(Service: S3, Status Code: 40[13]\\b",
              "permission denied: S3 rejects these credentials, or they do not allow this"),
          rule(
              "SdkClientException: .*?Unable to execute HTTP request: (.+?)(?: \\(SDK Attempt Count|$)",
              "S3 cannot be reached: {1} (its address: --hadoop-set fs.s3a.endpoint=URL)"),
          // the name node
          rule("AccessControlException: Permission denied:? ?(.*)", "permission denied ({1})"),
          rule("(?:AccessControlException|AuthorizationException): (.+)", "permission denied: {1}"),
          rule("AccessDeniedException: (.+)", "permission denied"),
          rule(
              "is not supported in state standby|StandbyException",
              "the name node is on standby: name the active one, or the name service of the pair (-nn NAME"
                  + " with --hadoop-conf DIR)"),
          rule(
              "SafeModeException|in safe mode",
              "the name node is in safe mode: try again once it has left it (hdfs dfsadmin -safemode get)"),
          rule("QuotaExceededException: (.+)", "the quota is used up: {1}"),
          rule(
              "could only be (?:written|replicated) to 0 ",
              "no data node has room for another block, or none can be reached (hdfs dfsadmin -report)"),
          // data
          rule(
              "(?:BlockMissingException|Could not obtain block):? .*?(blk_-?\\d+).*",
              "a block is missing: no reachable data node has a good copy of {1} (hdfs fsck FILE -files -blocks"
                  + " -locations shows where it should be)"),
          rule(
              "(?:BlockMissingException|Could not obtain (?:the last )?block).*",
              "a block is missing: no reachable data node has a good copy"),
          rule(
              "Cannot obtain block length|Could not obtain the last block",
              "it is still being written, or its writer died: wait, or hdfs debug recoverLease -path FILE"),
          rule(
              "ChecksumException.*",
              "damaged: its checksum is wrong on every data node that holds it"),
          rule("FileNotFoundException", "no such file or directory"),
          // reaching a server
          rule(
              "(?s)UnknownHostException.*destination host is: \\(?\"?([^\";:)]+).*",
              Failures::unknownHost),
          rule(
              "UnknownHostException: (?:java\\.net\\.UnknownHostException: )?(?:Invalid host name: )?([\\w.-]+).*",
              Failures::unknownHost),
          rule(
              "(?s)Call From \\S+ to (\\S+) failed on (connection exception|socket timeout exception|local exception)?.*",
              Failures::noCall),
          rule(
              "No Route to Host from \\S+ to (\\S+) failed.*",
              OF_NAME_NODE + "{1}: no route to host"),
          rule(
              "(?s)(?:ConnectTimeoutException|SocketTimeoutException): .*remote=([^\\]]+)\\].*",
              "no answer from {1} in time"),
          rule(
              "(?s)(?:RpcException|EOFException|InvalidProtocolBufferException|IOException): .*(?:RPC response"
                  + "|End of File Exception|Protocol message|Failed on local exception).*",
              "the server there does not speak the HDFS protocol; is this the port of the name node's"
                  + " web page instead of its RPC port (8020)?"),
          // file systems
          rule("No FileSystem for scheme \"?([\\w.+-]+)\"?", Failures::noFileSystem),
          rule(
              "Class (org\\.apache\\.hadoop\\.fs\\.\\S+|\\S*FileSystem\\S*) not found",
              Failures::noClass),
          rule("(?:NoClassDefFoundError|ClassNotFoundException): (.+)", Failures::noClass),
          rule(
              "Incomplete HDFS URI, no host",
              "no name node: write hdfs://HOST/PATH, or name one with -nn"),
          rule("Filesystem closed", "the build was stopped while it was being read"));

  private Failures() {}

  static InputException explain(String file, Throwable failure) {
    Throwable unloaded = Diagnosis.unloaded(failure);
    if (unloaded != null) {
      return new InputException(file + ": " + Diagnosis.withoutLibrary(unloaded), failure);
    }
    List<Fault> chain = new ArrayList<>();
    @Nullable FileSystemException local = null;
    for (Throwable cause = failure; cause != null && chain.size() < 32; cause = cause.getCause()) {
      if (cause instanceof InputException explained) {
        return explained;
      }
      if (cause instanceof FileSystemException here && isLocal(here)) {
        local = here;
      }
      if (!isWrapper(cause)) {
        chain.add(Fault.of(cause));
      }
    }
    if (local != null) {
      return InputException.reading(file, local);
    }
    for (Rule rule : RULES) {
      for (Fault fault : chain) {
        String words = rule.words(fault);
        if (words != null) {
          String named = words.startsWith(OF_NAME_NODE) ? words : file + ": " + words;
          return new InputException(named, failure);
        }
      }
    }
    String words = chain.isEmpty() ? failure.toString() : chain.get(0).firstLine();
    return new InputException(words.startsWith(file + ":") ? words : file + ": " + words, failure);
  }

  /** Connectors to object stores also throw the JDK's exceptions. */
  private static boolean isLocal(FileSystemException thrown) {
    return thrown.getFile() == null || !thrown.getFile().contains("://");
  }

  private static boolean isWrapper(Throwable thrown) {
    return thrown.getCause() != null
        && (thrown instanceof ExecutionException || thrown instanceof UncheckedIOException);
  }

  private static String unknownHost(Fault fault, MatchResult match) {
    return OF_NAME_NODE
        + match.group(1)
        + ": unknown host (if it is the name service of an HA pair: --hadoop-conf DIR with the"
        + " hdfs-site.xml that names the pair)";
  }

  private static String noCall(Fault fault, MatchResult match) {
    String server = OF_NAME_NODE + match.group(1) + ": ";
    String all = fault.toString();
    if (all.contains("Connection refused")) {
      return server + "connection refused; is it up, and is that its RPC port (often 8020)?";
    }
    if (all.contains("timeout") || all.contains("timed out")) {
      return server + "no answer; is it up, and does a firewall let this machine through?";
    }
    if (all.contains("RPC response") || all.contains("EOFException")) {
      return server
          + "does not speak HDFS's RPC; is that the port of its web page instead of its RPC port"
          + " (often 8020)?";
    }
    return server + fault.firstLine();
  }

  private static String noFileSystem(Fault fault, MatchResult match) {
    String scheme = match.group(1).toLowerCase(Locale.ROOT);
    if (scheme.equals("s3") || scheme.equals("s3n")) {
      return "no file system for "
          + scheme
          + ":; write s3a:// (and put "
          + JARS.get("s3a")
          + " on BSDB_CLASSPATH)";
    }
    return "no file system for " + scheme + ":; " + classPathHint(JARS.get(scheme));
  }

  private static String noClass(Fault fault, MatchResult match) {
    String name = match.group(1).strip().replace('/', '.');
    String of = null;
    if (name.startsWith("org.apache.commons.lang3.")) {
      // file systems need it on the class path, since Hadoop's client relocates its own copy
      return "the class "
          + name
          + " is missing; "
          + classPathHint("commons-lang3, as scripts/fetch-s3 DIR fetches for S3,");
    }
    if (name.contains(".s3a.") || name.startsWith("software.amazon.")) {
      of = "s3a";
    } else if (name.contains(".azure") || name.startsWith("com.microsoft.azure")) {
      of = "abfs";
    } else if (name.contains(".gs.") || name.contains(".gcs.")) {
      of = "gs";
    } else if (name.contains(".aliyun.")) {
      of = "oss";
    } else if (name.contains(".obs.")) {
      of = "obs";
    }
    return "the class " + name + " is missing; " + classPathHint(of == null ? null : JARS.get(of));
  }

  private static String classPathHint(@Nullable String jars) {
    return "put the jars of "
        + (jars == null ? "its file system" : jars)
        + " on the class path: BSDB_CLASSPATH=/DIR/*:$(hadoop classpath) (OPERATIONS.md, \"Building from"
        + " Parquet on HDFS\")";
  }

  private static Rule rule(String pattern, String words) {
    return rule(pattern, (fault, match) -> filled(words, fault, match));
  }

  private static Rule rule(String pattern, BiFunction<Fault, MatchResult, String> words) {
    return new Rule(Pattern.compile(pattern), words);
  }

  private static String filled(String words, Fault fault, MatchResult match) {
    String filled = words.replace("{all}", fault.firstLine());
    for (int group = 1; group <= match.groupCount(); group++) {
      filled = filled.replace("{" + group + "}", String.valueOf(match.group(group)));
    }
    return filled.lines().findFirst().orElse("");
  }

  private record Rule(Pattern pattern, BiFunction<Fault, MatchResult, String> then) {
    @Nullable String words(Fault fault) {
      Matcher matcher = pattern.matcher(fault.toString());
      return matcher.find() ? then.apply(fault, matcher) : null;
    }
  }

  /** One exception of a chain, from the client or the server. */
  private record Fault(String type, String message) {
    static Fault of(Throwable thrown) {
      String type = thrown.getClass().getName();
      if (type.equals("org.apache.hadoop.ipc.RemoteException")) {
        type = Remote.type(thrown);
      }
      String simple = type.substring(type.lastIndexOf('.') + 1);
      String message = thrown.getMessage();
      return new Fault(simple, message == null ? "" : message);
    }

    /** Returns the first line of the message, without the wiki link. */
    String firstLine() {
      String line = message.lines().findFirst().orElse("");
      int wiki = line.indexOf("; For more details see:");
      String text = (wiki < 0 ? line : line.substring(0, wiki)).strip();
      return text.isEmpty() ? type : text;
    }

    @Override
    public String toString() {
      return type + ": " + message;
    }
  }

  /** Separate, so that no Hadoop class is loaded unless one threw. */
  private static final class Remote {
    private Remote() {}

    static String type(Throwable thrown) {
      return String.valueOf(((org.apache.hadoop.ipc.RemoteException) thrown).getClassName());
    }
  }
}
