package tech.bsdb.tools.source;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import javax.security.auth.kerberos.KerberosPrincipal;
import javax.security.auth.kerberos.KeyTab;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputException;

/**
 * The identity for Hadoop's services: the process's user, the owner of a Kerberos ticket, or the
 * owner of a keytab. Hadoop keeps the login for the whole process and renews a keytab's tickets
 * itself.
 *
 * @param configuration the user's Hadoop configuration
 * @param kerberos whether it says that the cluster requires Kerberos
 */
record Login(Configuration configuration, boolean kerberos) {
  private static final String AUTHENTICATION = "hadoop.security.authentication";

  /** The file systems that authenticate with Kerberos; the others have their own credentials. */
  private static final Set<String> HADOOP_OWN =
      Set.of("hdfs", "webhdfs", "swebhdfs", "viewfs", "ofs", "o3fs");

  /**
   * Reads the configuration, and logs in if a keytab is given.
   *
   * @throws InputException if that fails
   */
  static Login of(FileSourceOptions options) throws IOException {
    checkKeytab(options);
    Slf4jFilter.install();
    Configuration configuration = HadoopConfiguration.of(options);
    String principal = options.principal();
    Path keytab = options.keytab();
    if (principal == null || keytab == null) {
      use(configuration);
      if (!UserGroupInformation.isSecurityEnabled()) {
        loginByName();
      }
    } else {
      configuration.set(AUTHENTICATION, "kerberos", "--principal");
      use(configuration);
      checkKeys(principal, keytab);
      try {
        UserGroupInformation.loginUserFromKeytab(principal, keytab.toString());
      } catch (IOException | RuntimeException failure) {
        throw FileSources.explain("--keytab " + keytab + ", --principal " + principal, failure);
      }
    }
    return new Login(configuration, "kerberos".equalsIgnoreCase(configuration.get(AUTHENTICATION)));
  }

  private static void use(Configuration configuration) throws InputException {
    try {
      UserGroupInformation.setConfiguration(configuration);
    } catch (RuntimeException failure) {
      throw FileSources.explain("login", failure);
    }
  }

  /**
   * Logs in as this process's user. Where the system has no name for its number, as in containers,
   * Java's own login fails: then the user is that of {@code HADOOP_USER_NAME}, or the number.
   */
  private static void loginByName() throws IOException {
    try {
      UserGroupInformation unused = UserGroupInformation.getLoginUser();
    } catch (IOException failure) {
      if (!isWithoutName(failure)) {
        throw failure;
      }
      String given = System.getenv("HADOOP_USER_NAME");
      String name = given == null || given.isBlank() ? number() : given;
      UserGroupInformation.setLoginUser(UserGroupInformation.createRemoteUser(name));
    }
  }

  private static boolean isWithoutName(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (String.valueOf(cause.getMessage()).contains("invalid null input: name")) {
        return true;
      }
    }
    return false;
  }

  /** The number of this process's user. */
  private static String number() throws IOException {
    return String.valueOf(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
  }

  /**
   * Checks that the keytab is a readable file. Call it before anything needs a realm; otherwise a
   * missing realm would be reported instead.
   */
  private static void checkKeytab(FileSourceOptions options) throws InputException {
    Path keytab = options.keytab();
    if (keytab == null) {
      return;
    }
    String option = option(keytab);
    if (!Files.exists(keytab)) {
      throw new InputException(option + "no such file");
    }
    if (!Files.isRegularFile(keytab)) {
      throw new InputException(option + "not a file");
    }
    if (!Files.isReadable(keytab)) {
      throw new InputException(option + "permission denied");
    }
  }

  private static String option(Path keytab) {
    return "--keytab " + keytab + ": ";
  }

  private static void checkKeys(String principal, Path keytab) throws InputException {
    KerberosPrincipal owner;
    try {
      owner = new KerberosPrincipal(principal);
    } catch (IllegalArgumentException e) {
      throw new InputException(
          "--principal " + principal + ": not a principal (NAME@REALM): " + e.getMessage(), e);
    }
    if (KeyTab.getUnboundInstance(keytab.toFile()).getKeys(owner).length == 0) {
      throw new InputException(
          "%sholds no key of %s that Java can use (klist -kte FILE lists those it holds)"
              .formatted(option(keytab), owner.getName()));
    }
  }

  /**
   * Checks that a user is logged in, if a file system requires it.
   *
   * @throws InputException if nobody is
   */
  void require(@Nullable String scheme) throws IOException {
    if (kerberos && scheme != null && HADOOP_OWN.contains(scheme)) {
      UserGroupInformation user = UserGroupInformation.getLoginUser();
      if (!user.hasKerberosCredentials() && user.getTokens().isEmpty()) {
        throw new InputException(noTicket());
      }
    }
  }

  /** Returns the message for a missing ticket. */
  static String noTicket() {
    String cache = System.getenv("KRB5CCNAME");
    boolean elsewhere = cache != null && cache.matches("(?i)(KEYRING|KCM|DIR|API|MEMORY|MSLSA):.*");
    return "no Kerberos ticket: run kinit, or give --principal and --keytab"
        + (elsewhere
            ? " (KRB5CCNAME is " + cache + ", but Java reads tickets only from files: FILE:/PATH)"
            : "");
  }

  /**
   * Suppresses three lines on stderr. The AWS SDK bundle contains a relocated copy of SLF4J 1.7,
   * which cannot be given a logging backend and complains in lines that begin with {@code SLF4J: };
   * no setting turns them off. The lines of later versions begin differently.
   */
  private static final class Slf4jFilter extends PrintStream {
    private static final String BEGINNING = "SLF4J: ";

    private Slf4jFilter(PrintStream below) {
      super(below, /* autoFlush= */ true, UTF_8);
    }

    /** Suppresses such lines from now on. */
    static synchronized void install() {
      if (!(System.err instanceof Slf4jFilter)) {
        System.setErr(new Slf4jFilter(System.err));
      }
    }

    @Override
    public void println(@Nullable String line) {
      if (line == null || !line.startsWith(BEGINNING)) {
        super.println(line);
      }
    }
  }
}
