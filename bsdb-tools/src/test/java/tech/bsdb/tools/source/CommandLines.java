package tech.bsdb.tools.source;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.security.UserGroupInformation;
import tech.bsdb.tools.CommandRun;

/**
 * A process that runs {@code bsdb} for each line of a file, whose words are separated by tabs, each
 * time as somebody who has not logged in yet. What a line printed and returned is one line of
 * standard output.
 */
final class CommandLines {
  private CommandLines() {}

  public static void main(String[] arguments) throws Exception {
    List<String> lines = Files.readAllLines(Path.of(arguments[0]));
    for (String line : lines) {
      CommandRun run = CommandRun.bsdb(line.split("\t"));
      System.out.println((run.code() + "|" + run.out() + "|" + run.err()).replace("\n", " / "));
      UserGroupInformation.reset();
    }
    System.exit(0);
  }
}
