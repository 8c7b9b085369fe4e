package tech.bsdb.tools.source;

import java.io.IOException;
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
 * Who we are for Hadoop's services: the process's user, whoever has a Kerberos ticket, or the owner
 * of a keytab. Hadoop keeps that for the whole process and renews a keytab's tickets by itself.
 *
 * @param kerberos whether the cluster is said to demand it
 */
record Login(boolean kerberos) {
  private static final String AUTHENTICATION = "hadoop.security.authentication";

  /**
   * The file systems that are reached with what Kerberos says; the others have keys of their own.
   */
  private static final Set<String> HADOOP_OWN =
      Set.of("hdfs", "webhdfs", "swebhdfs", "viewfs", "ofs", "o3fs");

  /**
   * Logs in where a keytab is given.
   *
   * @throws InputException if that fails
   */
  static Login of(FileSourceOptions options, Configuration configuration) throws IOException {
    String principal = options.principal();
    Path keytab = options.keytab();
    if (principal == null || keytab == null) {
      use(configuration);
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
    return new Login("kerberos".equalsIgnoreCase(configuration.get(AUTHENTICATION)));
  }

  private static void use(Configuration configuration) throws InputException {
    try {
      UserGroupInformation.setConfiguration(configuration);
    } catch (RuntimeException failure) {
      throw FileSources.explain("login", failure);
    }
  }

  /**
   * Sees that the keytab is a file that can be read: to be called before anything asks for a realm,
   * whose absence would be told in its place.
   */
  static void checkKeytab(FileSourceOptions options) throws InputException {
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
          option(keytab)
              + "holds no key of "
              + owner.getName()
              + " that Java can use (klist -kte FILE lists those it holds)");
    }
  }

  /**
   * Sees that somebody is logged in, if a file system asks for it.
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

  /** What to say where there is no ticket. */
  static String noTicket() {
    String cache = System.getenv("KRB5CCNAME");
    boolean elsewhere = cache != null && cache.matches("(?i)(KEYRING|KCM|DIR|API|MEMORY|MSLSA):.*");
    return "no Kerberos ticket: run kinit, or give --principal and --keytab"
        + (elsewhere
            ? " (KRB5CCNAME is " + cache + ", but Java finds tickets in files only: FILE:/PATH)"
            : "");
  }
}
