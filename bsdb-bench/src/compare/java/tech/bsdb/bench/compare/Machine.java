package tech.bsdb.bench.compare;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/** Facts about the machine, the JDK and the code, for reports. */
final class Machine {
  private Machine() {}

  /** Processor, memory, kernel and date. */
  static Map<String, String> facts() throws IOException {
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put(
        "machine",
        String.format(
            "%d cores of %s, %d GiB, Linux %s",
            Runtime.getRuntime().availableProcessors(),
            line(Path.of("/proc/cpuinfo"), "model name"),
            Math.round(
                Long.parseLong(line(Path.of("/proc/meminfo"), "MemTotal").replaceAll("\\D", ""))
                    / 1048576.0),
            System.getProperty("os.version")));
    facts.put("date", LocalDate.now(ZoneOffset.UTC).toString());
    return facts;
  }

  private static String line(Path file, String name) throws IOException {
    for (String line : Files.readAllLines(file)) {
      if (line.startsWith(name)) {
        return line.substring(line.indexOf(':') + 1).strip();
      }
    }
    return "?";
  }

  /** The load average of the last minute. */
  static double load() throws IOException {
    return Double.parseDouble(Files.readString(Path.of("/proc/loadavg")).split(" ", 0)[0]);
  }

  /** Returns a JDK's name and version. */
  static String jdk(Path home) throws IOException {
    Properties release = release(home);
    return (release.getProperty("IMPLEMENTOR", "") + " " + release.getProperty("JAVA_VERSION", ""))
        .replace("\"", "")
        .strip();
  }

  /** Returns a JDK's feature number. */
  static String feature(Path home) throws IOException {
    return release(home).getProperty("JAVA_VERSION", "?").replaceAll("\"|\\..*", "");
  }

  private static Properties release(Path home) throws IOException {
    Properties release = new Properties();
    try (InputStream in = Files.newInputStream(home.resolve("release"))) {
      release.load(in);
    }
    return release;
  }

  /** Returns the commit of this checkout and whether files differ from it. */
  static String commit() throws IOException, InterruptedException {
    String changed = git("status", "--porcelain", "--", "bsdb-core", "bsdb-bench");
    return git("rev-parse", "HEAD") + (changed.isEmpty() ? "" : " with changes");
  }

  private static String git(String... arguments) throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(List.of("git", "-C", System.getProperty("bsdb.bench.root", ".")));
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    String said =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    process.waitFor();
    return said;
  }

  /** The SHA-256 of a file, in hexadecimal. */
  static String sha256(Path file) throws IOException {
    try (DigestInputStream in =
        new DigestInputStream(Files.newInputStream(file), MessageDigest.getInstance("SHA-256"))) {
      byte[] buffer = new byte[1 << 20];
      while (in.read(buffer) >= 0) {
        // Reading updates the digest.
      }
      return HexFormat.of().formatHex(in.getMessageDigest().digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
