import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.xml.sax.SAXException;

/**
 * Writes META-INF/THIRD-PARTY.md: what the bsdb jar bundles, under which licences, with the notices of each.
 *
 * <p>Nothing in it is written by hand. Versions come from the jars of the runtime class path, licences from their POMs, and
 * notices, word for word, from the jars. Jars that hold no notice need a file in {@code src/third-party}: the words of the
 * project's own source, behind a header of three lines (Software, Artifacts, Source). The build fails when a jar has neither,
 * when a file there fits no jar, and when the committed document differs from what this program would write.
 *
 * <p>Run from source: {@code java ThirdParty.java check|write CLASS_PATH REPOSITORY SUPPLEMENTS DOCUMENT}.
 */
final class ThirdParty {
  private static final Pattern NOTICE =
      Pattern.compile("(?i)META-INF/(?:.*/)?[^/]*(?:LICEN[SC]E|NOTICE|COPYING|COPYRIGHT)[^/]*(?<!\\.class)");
  private static final Pattern APACHE =
      Pattern.compile(
          "\\s*Apache\\s+License\\s+Version 2\\.0, January 2004.*?END OF TERMS AND CONDITIONS"
              + "(?:\\s+APPENDIX: How to apply.*?limitations\\s+under\\s+the\\s+License\\.)?",
          Pattern.DOTALL);

  /** On the class path but not in the jar (bsdb-dist/pom.xml): javac alone reads these. */
  private static final Set<String> LEFT_OUT = Set.of("javax.annotation");

  private static final String APACHE_HERE = "[The Apache License 2.0: META-INF/LICENSE]";

  /** A jar of the runtime class path, or code that such a jar holds a copy of. */
  record Artifact(String group, String name, String version, Path jar, Path pom) {
    String id() {
      return group + ":" + name;
    }

    @Override
    public String toString() {
      return id() + " " + version;
    }
  }

  /** The words of a project whose jars do not hold them. */
  record Supplement(Path file, String software, List<String> artifacts, String source, String text) {
    boolean covers(Artifact artifact) {
      return artifacts.contains(artifact.id()) || artifacts.contains(artifact.group() + ":*");
    }
  }

  private ThirdParty() {}

  public static void main(String[] args) throws IOException {
    Path repository = Path.of(args[2]);
    Path document = Path.of(args[4]);
    try {
      String text = document(artifacts(args[1], repository), supplements(Path.of(args[3])), repository);
      check(args[0], document, text);
    } catch (IllegalStateException e) {
      System.err.println(e.getMessage());
      System.exit(1);
    }
  }

  private static void check(String task, Path document, String text) throws IOException {
    if (task.equals("write")) {
      Files.writeString(document, text);
    } else if (!Files.exists(document) || !Files.readString(document).equals(text)) {
      throw fail(
          document + " does not say what the jars say. Write it anew with ./mvnw package -DthirdParty=write, then review the"
              + " difference.");
    }
  }

  private static String document(List<Artifact> artifacts, List<Supplement> supplements, Path repository)
      throws IOException {
    StringBuilder table = new StringBuilder();
    StringBuilder copies = new StringBuilder();
    Map<String, List<String>> notices = new LinkedHashMap<>();
    for (Artifact artifact : artifacts) {
      table.append("| ").append(artifact.id()).append(" | ").append(artifact.version()).append(" | ");
      table.append(String.join("; ", licences(artifact.pom(), repository))).append(" |\n");
      boolean found = false;
      try (ZipFile jar = new ZipFile(artifact.jar().toFile())) {
        for (String name : new TreeSet<>(jar.stream().map(ZipEntry::getName).toList())) {
          if (NOTICE.matcher(name).matches()) {
            found = true;
            note(notices, text(jar, name), artifact + ", " + name);
          }
        }
        copies.append(copies(artifact, jar));
      }
      for (Supplement supplement : supplements) {
        found |= supplement.covers(artifact);
      }
      if (!found) {
        throw fail(
            artifact + " holds no notice. Put what its project states into a file in src/third-party, with its source.");
      }
    }
    for (Supplement supplement : supplements) {
      if (artifacts.stream().noneMatch(supplement::covers)) {
        throw fail(supplement.file() + " fits no jar of the class path. Remove it.");
      }
      note(
          notices,
          supplement.text(),
          supplement.software() + ": " + String.join(", ", supplement.artifacts()) + "; from " + supplement.source());
    }
    StringBuilder all = new StringBuilder(
        """
        # Third-party software in the bsdb jar

        build-support/ThirdParty.java writes this file from the jars, their POMs and src/third-party. Do not edit it.

        | Artifact | Version | Licence, as its POM states it |
        |---|---|---|
        """);
    all.append(table).append('\n');
    if (copies.length() > 0) {
      all.append("## Copies inside these jars\n\n| Jar | Holds a copy of | Licence, as the copy's POM states it |\n|---|---|---|\n");
      all.append(copies).append('\n');
    }
    all.append("## Notices and licences, word for word\n");
    notices.forEach(
        (text, sources) -> {
          all.append('\n');
          sources.forEach(source -> all.append("- ").append(source).append('\n'));
          all.append("\n```text\n").append(text).append("\n```\n");
        });
    return all.toString();
  }

  /** Collects equal texts once. A text that is the Apache License and nothing else is left out: META-INF/LICENSE has it. */
  private static void note(Map<String, List<String>> notices, String raw, String source) {
    String text =
        raw.replace("\r", "").replace("\uFEFF", "").replace("```", "'''").lines()
            .map(String::stripTrailing).collect(Collectors.joining("\n"));
    text = APACHE.matcher(text).replaceAll(Matcher.quoteReplacement(APACHE_HERE)).strip();
    if (!text.equals(APACHE_HERE)) {
      notices.computeIfAbsent(text, none -> new ArrayList<>()).add(source);
    }
  }

  /** Rows for the artifacts whose POMs a jar holds beside its own: those that were shaded into it. */
  private static String copies(Artifact artifact, ZipFile jar) throws IOException {
    Map<String, String> rows = new TreeMap<>();
    Enumeration<? extends ZipEntry> entries = jar.entries();
    while (entries.hasMoreElements()) {
      String name = entries.nextElement().getName();
      if (!name.startsWith("META-INF/maven/") || !name.endsWith("/pom.properties")) {
        continue;
      }
      Properties facts = new Properties();
      try (InputStream in = jar.getInputStream(jar.getEntry(name))) {
        facts.load(in);
      }
      String id = facts.getProperty("groupId") + ":" + facts.getProperty("artifactId");
      if (facts.getProperty("groupId").equals(artifact.group())) {
        continue; // its own parts
      }
      ZipEntry pom = jar.getEntry(name.replace("pom.properties", "pom.xml"));
      List<String> licences = List.of();
      if (pom != null) {
        try (InputStream in = jar.getInputStream(pom)) {
          licences = licences(parse(in));
        }
      }
      rows.put(
          id,
          "| " + artifact.id() + " | " + id + " " + facts.getProperty("version") + " | "
              + (licences.isEmpty() ? "stated by its parent POM" : String.join("; ", licences)) + " |\n");
    }
    return String.join("", rows.values());
  }

  /** The jars of a class path that lie in the repository, by name. Those of this build lie elsewhere and are left out. */
  private static List<Artifact> artifacts(String classPath, Path repository) {
    Map<String, Artifact> found = new TreeMap<>();
    for (String element : classPath.split(File.pathSeparator, 0)) {
      Path jar = Path.of(element);
      if (!jar.startsWith(repository) || !element.endsWith(".jar")) {
        continue;
      }
      // group/as/folders/name/version/name-version[-classifier].jar
      Path place = repository.relativize(jar);
      int folders = place.getNameCount() - 3;
      String group = place.subpath(0, folders).toString().replace(File.separatorChar, '.');
      if (!group.equals("tech.bsdb") && !LEFT_OUT.contains(group)) {
        String name = place.getName(folders).toString();
        String version = place.getName(folders + 1).toString();
        Path pom = jar.resolveSibling(name + "-" + version + ".pom");
        found.putIfAbsent(group + ":" + name, new Artifact(group, name, version, jar, pom));
      }
    }
    if (found.isEmpty()) {
      throw fail("the class path has no jar in " + repository);
    }
    return List.copyOf(found.values());
  }

  private static List<Supplement> supplements(Path folder) throws IOException {
    List<Supplement> all = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.txt")) {
      for (Path file : files) {
        String[] parts = Files.readString(file).split("\n\n", 2);
        String[] header = parts[0].split("\n", -1);
        if (parts.length != 2 || header.length != 3) {
          throw fail(file + " has no header of three lines (Software, Artifacts, Source) with an empty line behind it.");
        }
        all.add(
            new Supplement(
                file,
                field(file, header[0], "Software: "),
                List.of(field(file, header[1], "Artifacts: ").split(" ", 0)),
                field(file, header[2], "Source: "),
                parts[1]));
      }
    }
    all.sort(Comparator.comparing(Supplement::file));
    return all;
  }

  private static String field(Path file, String line, String name) {
    if (!line.startsWith(name)) {
      throw fail(file + ": \"" + line + "\" does not begin with \"" + name + "\".");
    }
    return line.substring(name.length());
  }

  /** The licences that a POM in the repository states, or the nearest of its parents that states any. */
  private static List<String> licences(Path pom, Path repository) throws IOException {
    Element project;
    try (InputStream in = Files.newInputStream(pom)) {
      project = parse(in);
    }
    List<String> own = licences(project);
    Element parent = child(project, "parent");
    if (!own.isEmpty() || parent == null) {
      return own;
    }
    String name = text(parent, "artifactId");
    String version = text(parent, "version");
    return licences(
        repository
            .resolve(text(parent, "groupId").replace('.', File.separatorChar))
            .resolve(name)
            .resolve(version)
            .resolve(name + "-" + version + ".pom"),
        repository);
  }

  private static List<String> licences(Element project) {
    List<String> names = new ArrayList<>();
    Element all = child(project, "licenses");
    for (Node node = all == null ? null : all.getFirstChild(); node != null; node = node.getNextSibling()) {
      if (node instanceof Element licence) {
        names.add(text(licence, "name"));
      }
    }
    return names;
  }

  private static Element parse(InputStream pom) throws IOException {
    try {
      DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
      factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
      return factory.newDocumentBuilder().parse(pom).getDocumentElement();
    } catch (ParserConfigurationException | SAXException e) {
      throw new IOException("not a POM", e);
    }
  }

  private static Element child(Element element, String name) {
    for (Node node = element.getFirstChild(); node != null; node = node.getNextSibling()) {
      if (node instanceof Element child && child.getTagName().equals(name)) {
        return child;
      }
    }
    return null;
  }

  private static String text(Element element, String name) {
    Element child = child(element, name);
    return child == null ? "" : child.getTextContent().strip().replaceAll("\\s+", " ");
  }

  private static String text(ZipFile jar, String name) throws IOException {
    try (InputStream in = jar.getInputStream(jar.getEntry(name))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static IllegalStateException fail(String reason) {
    return new IllegalStateException(reason);
  }
}
