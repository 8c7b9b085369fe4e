package tech.bsdb.tools.source;

import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.Diagnosis;
import tech.bsdb.tools.cli.TextResource;
import tech.bsdb.tools.input.InputException;

/**
 * Turns exceptions from Hadoop, Kerberos and the network into messages for users. It matches names
 * and messages, as {@code failures.txt} says: servers send their exceptions as text, and every
 * cluster may run a different Hadoop.
 */
final class Failures {
  /** Begins a message that does not name the file. */
  private static final String OF_NAME_NODE = "name node ";

  /**
   * Rules for an exception, as {@code Type: message}: the first one that finds anything applies.
   */
  private static final List<Rule> RULES = read("failures.txt");

  /** Rules from a scheme with its colon, or a class name, to the jars that it comes with. */
  private static final List<Rule> JARS = read("jars.txt");

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

  private static String noFileSystem(String named) {
    String scheme = named.toLowerCase(Locale.ROOT);
    String hint =
        scheme.equals("s3") || scheme.equals("s3n")
            ? "write s3a:// (and put " + jars("s3a:") + " on BSDB_CLASSPATH)"
            : classPathHint(scheme + ":");
    return "no file system for " + scheme + ":; " + hint;
  }

  private static String noClass(String named) {
    String name = named.strip().replace('/', '.');
    return "the class " + name + " is missing; " + classPathHint(name);
  }

  private static String classPathHint(String of) {
    return "put the jars of "
        + jars(of)
        + " on the class path: BSDB_CLASSPATH=/DIR/*:$(hadoop classpath) (docs/guides/parquet.md,"
        + " \"HDFS, S3 and Azure\")";
  }

  private static String jars(String of) {
    return JARS.stream()
        .filter(rule -> rule.pattern.matcher(of).matches())
        .findFirst()
        .map(Rule::words)
        .orElse("its file system");
  }

  /** Reads rules: unindented lines are patterns, and the indented ones below them their words. */
  private static List<Rule> read(String table) {
    List<Rule> rules = new ArrayList<>();
    int first = 0; // of the patterns whose words are next
    for (String line : TextResource.lines(Failures.class, table)) {
      if (line.startsWith(" ")) {
        rules.subList(first, rules.size()).replaceAll(rule -> rule.with(line.strip()));
      } else {
        boolean hasWords = !rules.isEmpty() && !rules.get(rules.size() - 1).words.isEmpty();
        first = hasWords ? rules.size() : first;
        rules.add(new Rule(Pattern.compile(line), ""));
      }
    }
    return List.copyOf(rules);
  }

  /**
   * A line of a table.
   *
   * @param words what users are told, with places for what the pattern found, or the name of code
   */
  private record Rule(Pattern pattern, String words) {
    Rule with(String more) {
      return new Rule(pattern, words.isEmpty() ? more : words + " " + more);
    }

    @Nullable String words(Fault fault) {
      Matcher matcher = pattern.matcher(fault.toString());
      if (!matcher.find()) {
        return null;
      }
      return switch (words) {
        case "@noTicket" -> Login.noTicket();
        case "@noFileSystem" -> noFileSystem(matcher.group(1));
        case "@noClass" -> noClass(matcher.group(1));
        default -> filled(fault, matcher);
      };
    }

    private String filled(Fault fault, MatchResult match) {
      String filled = words;
      for (int group = 1; group <= match.groupCount(); group++) {
        filled = filled.replace("{" + group + "}", String.valueOf(match.group(group)));
      }
      return filled.replace("{all}", fault.firstLine()).lines().findFirst().orElse("");
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
