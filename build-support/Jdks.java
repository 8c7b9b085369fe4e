import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Chooses the JDKs of a module's build and writes them as properties for the POM.
 *
 * <p>The JDK that runs Maven compiles everything and runs the tests. Three more steps depend on the other installed JDKs:
 *
 * <ul>
 *   <li>the overlay {@code src/main/java22} is compiled by the newest JDK from 22 on, and left out if there is none;
 *   <li>the tests run a second time on the other generation: from 22 on (with the overlay), or 17 to 21 (without);
 *   <li>{@code bsdb-trino} is compiled and tested by the newest JDK from 25 on, and left out if there is none.
 * </ul>
 *
 * <p>Run from source: {@code java Jdks.java auto|none|HOME:HOME... target/jdks.properties}.
 */
final class Jdks {
  private static final int FLOOR = 17;
  private static final int OVERLAY = 22;
  private static final int TRINO = 25;

  record Jdk(Path home, int feature, String version) {
    String tool(String name) {
      Path plain = home.resolve("bin").resolve(name);
      return (Files.exists(plain) ? plain : home.resolve("bin").resolve(name + ".exe")).toString();
    }

    boolean hasOverlayApi() {
      return feature >= OVERLAY;
    }

    @Override
    public String toString() {
      return version + " (" + home + ")";
    }
  }

  public static void main(String[] args) throws IOException {
    Jdk running = new Jdk(Path.of(System.getProperty("java.home")), Runtime.version().feature(), System.getProperty("java.version"));
    List<Jdk> all = new ArrayList<>(List.of(running));
    all.addAll(installed(args[0]));

    Jdk modern = running.hasOverlayApi() ? running : null;
    Jdk floor = running.hasOverlayApi() ? null : running;
    for (Jdk jdk : all) {
      if (jdk.hasOverlayApi()) {
        modern = modern == null || (modern != running && jdk.feature > modern.feature) ? jdk : modern;
      } else {
        floor = floor == null || (floor != running && jdk.feature < floor.feature) ? jdk : floor;
      }
    }
    Jdk other = running == modern ? floor : modern;

    Path target = Path.of(args[1]);
    String classes = target.resolveSibling("classes").toString();
    String overlay = target.resolveSibling("classes").resolve("META-INF/versions/" + OVERLAY).toString();
    Properties properties = new Properties();
    properties.setProperty("jdk.overlay.skip", String.valueOf(modern == null));
    properties.setProperty("jdk.overlay.javac", (modern == null ? running : modern).tool("javac"));
    properties.setProperty("jdk.tests.classes", running.hasOverlayApi() ? overlay : classes);
    properties.setProperty("jdk.other.skip", String.valueOf(other == null));
    properties.setProperty("jdk.other.java", (other == null ? running : other).tool("java"));
    properties.setProperty("jdk.other.feature", String.valueOf((other == null ? running : other).feature));
    properties.setProperty("jdk.other.classes", running.hasOverlayApi() ? classes : overlay);
    Jdk trino = all.stream().filter(jdk -> jdk.feature >= TRINO).max(Comparator.comparingInt(Jdk::feature)).orElse(null);
    properties.setProperty("jdk.trino.skip", String.valueOf(trino == null));
    properties.setProperty("jdk.trino.javac", (trino == null ? running : trino).tool("javac"));
    properties.setProperty("jdk.trino.javadoc", (trino == null ? running : trino).tool("javadoc"));
    properties.setProperty("jdk.trino.java", (trino == null ? running : trino).tool("java"));
    if (trino == null) {
      properties.setProperty(
          "jdk.trino.warning",
          "No JDK " + TRINO + " or newer found: bsdb-trino is LEFT OUT of this build and not tested. Install one, or name it with -Djdks=HOME.");
    }
    properties.setProperty("jdk.floor.java", floor == null ? "" : floor.tool("java"));
    properties.setProperty("jdk.modern.java", modern == null ? "" : modern.tool("java"));
    properties.setProperty(
        "jdk.note",
        "JDK " + running + " compiles and tests; " + (other == null ? "no second JDK tests" : "JDK " + other + " tests again"));
    if (modern == null) {
      properties.setProperty(
          "jdk.warning",
          "No JDK " + OVERLAY + " or newer found: the native I/O overlay (META-INF/versions/" + OVERLAY
              + ") is LEFT OUT of this build and not tested. Install one, or name it with -Djdks=HOME.");
    } else if (floor == null) {
      properties.setProperty(
          "jdk.warning",
          "No JDK " + FLOOR + " to " + (OVERLAY - 1) + " found: their code is compiled but NOT tested in this build.");
    }
    Files.createDirectories(target.getParent());
    try (BufferedWriter out = Files.newBufferedWriter(target)) {
      properties.store(out, null);
    }
  }

  /** Returns the JDKs other than the running one, not older than the floor, each home once, in the order found. */
  private static List<Jdk> installed(String choice) throws IOException {
    List<Path> homes = new ArrayList<>();
    if (choice.equals("auto")) {
      Path user = Path.of(System.getProperty("user.home"));
      System.getenv().forEach((name, value) -> {
        if (name.matches("(JAVA|JDK).*_?HOME.*") && !value.isBlank()) {
          homes.add(Path.of(value));
        }
      });
      homes.addAll(homesInToolchains(user.resolve(".m2/toolchains.xml")));
      for (Path folder : List.of(
          Path.of("/usr/lib/jvm"), Path.of("/usr/lib64/jvm"), Path.of("/usr/java"), Path.of("/usr/local"), Path.of("/opt"), Path.of("/opt/java"),
          Path.of("/Library/Java/JavaVirtualMachines"), user.resolve("Library/Java/JavaVirtualMachines"),
          user.resolve(".sdkman/candidates/java"), user.resolve(".jdks"), user.resolve(".jenv/versions"), user.resolve(".asdf/installs/java"),
          user.resolve(".local/share/mise/installs/java"), Path.of("C:/Program Files/Java"), Path.of("C:/Program Files/Eclipse Adoptium"))) {
        homes.addAll(children(folder));
      }
    } else if (!choice.equals("none")) {
      for (String home : choice.split(Pattern.quote(System.getProperty("path.separator")))) {
        homes.add(Path.of(home));
      }
    }
    Map<Path, Jdk> found = new LinkedHashMap<>();
    for (Path home : homes) {
      for (Path candidate : List.of(home, home.resolve("Contents/Home"))) {
        Jdk jdk = jdkAt(candidate);
        if (jdk != null && jdk.feature >= FLOOR) {
          found.putIfAbsent(candidate.toRealPath(), jdk);
        }
      }
    }
    return List.copyOf(found.values());
  }

  /** Reads a JDK's {@code release} file instead of starting it; returns null if there is no complete JDK. */
  private static Jdk jdkAt(Path home) {
    Path release = home.resolve("release");
    boolean compiler = Files.isExecutable(home.resolve("bin/javac")) || Files.isExecutable(home.resolve("bin/javac.exe"));
    if (!compiler || !Files.isReadable(release)) {
      return null;
    }
    Properties lines = new Properties();
    try (InputStream in = Files.newInputStream(release)) {
      lines.load(in);
    } catch (IOException | IllegalArgumentException unreadable) {
      return null;
    }
    String version = lines.getProperty("JAVA_VERSION", "").replace("\"", "").trim();
    Matcher feature = Pattern.compile("^(\\d+)").matcher(version);
    return feature.find() ? new Jdk(home, Integer.parseInt(feature.group(1)), version) : null;
  }

  private static List<Path> children(Path folder) {
    List<Path> result = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
      entries.forEach(result::add);
    } catch (IOException absentOrPrivate) {
      return List.of();
    }
    result.sort(null);
    return result;
  }

  private static List<Path> homesInToolchains(Path toolchains) throws IOException {
    List<Path> result = new ArrayList<>();
    if (Files.isReadable(toolchains)) {
      Matcher home = Pattern.compile("<jdkHome>\\s*([^<]+?)\\s*</jdkHome>").matcher(Files.readString(toolchains));
      while (home.find()) {
        result.add(Path.of(home.group(1)));
      }
    }
    return result;
  }
}
