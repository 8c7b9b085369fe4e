import com.sun.source.util.JavacTask;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Syntax;
import tech.bsdb.tools.cli.UsageException;

/**
 * Checks command lines and Java sources of the documents, for test_docs.py.
 *
 * <p>Reads one request a line from standard input and prints one problem a line; no line means no problem. Fields are separated by
 * tabs; in a field, {@code \t}, {@code \n} and {@code \\} stand for themselves.
 *
 * <pre>
 * options ID ARGUMENT...        arguments of bsdb, which its own option tables must accept
 * parse   ID NAME SOURCE        a Java source without syntax errors
 * compile ID NAME SOURCE DIR    one that compiles against the class path, into DIR
 *
 * ID LINE MESSAGE               a problem; LINE is 0 or a line of SOURCE
 * </pre>
 *
 * <p>Run from source: {@code java -cp BSDB_JAR DocSnippets.java BSDB_JAR}.
 */
final class DocSnippets {
  private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();
  private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  public static void main(String[] args) throws IOException {
    Map<String, Command> commands = new HashMap<>();
    ServiceLoader.load(Command.class).forEach(command -> commands.put(command.name(), command));
    if (commands.isEmpty() || COMPILER == null) {
      throw new IllegalStateException(COMPILER == null ? "this Java has no compiler" : "no commands in the class path");
    }
    BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = requests.readLine(); line != null; line = requests.readLine()) {
      List<String> fields = Arrays.stream(line.split("\t", -1)).map(DocSnippets::plain).toList();
      String id = fields.get(1);
      switch (fields.get(0)) {
        case "options" -> checkOptions(id, fields.subList(2, fields.size()), commands);
        case "parse" -> compile(id, fields.get(2), fields.get(3), List.of(), true);
        case "compile" -> compile(id, fields.get(2), fields.get(3), List.of("-cp", args[0], "-d", fields.get(4)), false);
        default -> throw new IllegalArgumentException(fields.get(0));
      }
    }
    OUT.println("end");
  }

  private static void checkOptions(String id, List<String> line, Map<String, Command> commands) {
    String name = line.isEmpty() ? "--help" : line.get(0);
    if (name.equals("help") || name.equals("--help") || name.equals("--version") || name.equals("--make-archives")) {
      return;
    }
    Command command = commands.get(name);
    if (command == null) {
      problem(id, 0, "bsdb has no command \"" + name + "\"");
      return;
    }
    List<String> rest = line.subList(1, line.size());
    try {
      Syntax.of(command.runs(rest)).parse(rest);
    } catch (UsageException wrong) {
      problem(id, 0, "bsdb " + name + ": " + wrong.getMessage());
    }
  }

  private static void compile(String id, String name, String source, List<String> options, boolean onlyParse) throws IOException {
    JavaFileObject file =
        new SimpleJavaFileObject(URI.create("string:///" + name + ".java"), JavaFileObject.Kind.SOURCE) {
          @Override
          public CharSequence getCharContent(boolean ignored) {
            return source;
          }
        };
    DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
    List<String> all = new ArrayList<>(List.of("-proc:none", "-Xlint:none"));
    all.addAll(options);
    JavacTask task = (JavacTask) COMPILER.getTask(null, null, found, all, null, List.of(file));
    if (onlyParse) {
      task.parse();
    } else {
      task.call();
    }
    for (Diagnostic<? extends JavaFileObject> each : found.getDiagnostics()) {
      if (each.getKind() == Diagnostic.Kind.ERROR) {
        problem(id, each.getLineNumber(), each.getMessage(null));
      }
    }
  }

  private static void problem(String id, long line, String message) {
    OUT.println(id + "\t" + line + "\t" + message.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t"));
  }

  private static String plain(String field) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < field.length(); i++) {
      char c = field.charAt(i);
      if (c == '\\') {
        c = field.charAt(++i);
        c = c == 't' ? '\t' : c == 'n' ? '\n' : c;
      }
      text.append(c);
    }
    return text.toString();
  }
}
