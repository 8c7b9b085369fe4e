package tech.bsdb.tools.serve.resp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The table of commands is read strictly, and everything in it is answered. */
class CommandTableTest {
  private static final String GET = "get 2 1:1:1 string 1.0.0 readonly,fast - Returns a value.";
  private static final Map<String, Handler> GETTING =
      Map.of("get", (Handler.Queued) StringCommands::exists);

  @Test
  void everyCommandIsAnsweredOrRefusedOrAContainer() {
    TreeSet<String> answered = new TreeSet<>();
    for (CommandSpec spec : CommandTable.all()) {
      for (CommandSpec each : spec.subcommands().values()) {
        assertThat(CommandTable.find(each.name())).isSameAs(each);
        if (each.isRefused()) {
          String shown = each.name().toUpperCase(Locale.ROOT).replace('|', ' ');
          assertThat(((Handler.NeverAnswered) each.handler()).reply())
              .startsWith("ERR " + shown + " is refused: ");
        } else if (!each.name().endsWith("|help")) {
          assertThat(each.handler()).isSameAs(CommandTable.HANDLERS.get(each.name()));
          answered.add(each.name());
        }
      }
      if (CommandTable.HANDLERS.containsKey(spec.name())) {
        assertThat(spec.handler()).isSameAs(CommandTable.HANDLERS.get(spec.name()));
        answered.add(spec.name());
      } else {
        assertThat(spec.isRefused()).as(spec.name()).isEqualTo(spec.subcommands().isEmpty());
        assertThat(spec.isRefused() || !spec.isWrite()).as(spec.name()).isTrue();
      }
    }
    assertThat(answered).isEqualTo(CommandTable.HANDLERS.keySet());
  }

  @Test
  void aLineSaysAllAboutACommand() {
    String text =
        "# heading\n\nmget -2 1:-1:2 string 1.2.3 readonly,fast request_policy:all,hint All.\n";
    Handler handler = (Handler.Queued) StringCommands::mget;
    CommandSpec spec = CommandTable.read(text, Map.of("mget", handler)).get("mget");
    assertThat(spec)
        .isEqualTo(
            new CommandSpec(
                "mget",
                -2,
                List.of("readonly", "fast"),
                1,
                -1,
                2,
                "string",
                "1.2.3",
                List.of("request_policy:all", "hint"),
                "All.",
                handler,
                Map.of()));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          get 2 1:1:1 string 1.0.0 readonly,fast Returns a value.      | not a command
          get 0 1:1:1 string 1.0.0 readonly,fast - Returns a value.    | not a command
          get 2 1:1 string 1.0.0 readonly,fast - Returns a value.      | not a command
          get 2 0:1:1 string 1.0.0 readonly,fast - Returns a value.    | not a command
          get 2 1:1:1 strings 1.0.0 readonly,fast - Returns a value.   | an unknown group
          get 2 1:1:1 string 1.0 readonly,fast - Returns a value.      | not a command
          get 2 1:1:1 string 1.0.0 readonly,fast a,,b Returns a value. | not a command
          get 2 1:1:1 string 1.0.0 readonly,fast - Returns a value     | not a command
          GET 2 1:1:1 string 1.0.0 readonly,fast - Returns a value.    | not a command
          get 2 1:1:1 string 1.0.0 readonly,faster - Returns a value.  | an unknown flag
          get 2 1:1:1 string 1.0.0 readonly,,fast - Returns a value.   | an unknown flag
          set 2 1:1:1 string 1.0.0 readonly,fast - Returns a value.    | nothing answers it
          """)
  void aBadLineIsRefusedAndNamed(String line, String reason) {
    assertThatIllegalStateException()
        .isThrownBy(() -> CommandTable.read("# heading\n" + line + "\n" + GET, GETTING))
        .withMessage("commands.txt, line 2: " + reason + ": " + line);
  }

  @Test
  void commandsAndSubcommandsStandOnceAndInOrder() {
    String object = "object -2 - generic 2.2.3 - - Contains commands.";
    String encoding = "object|encoding 3 2:2:1 generic 2.2.3 readonly - Tells of a value.";
    Map<String, Handler> handlers = new TreeMap<>(GETTING);
    handlers.put("object|encoding", (Handler.Queued) StringCommands::exists);
    refused(GET + "\n" + GET, GETTING, "commands.txt, line 2: there already: " + GET);
    refused(
        encoding + "\n" + object, handlers, "commands.txt, line 1: no such command: " + encoding);
    refused(
        String.join("\n", GET, object, encoding, encoding),
        handlers,
        "commands.txt, line 4: there already: " + encoding);
    refused(GET + "\n" + object, GETTING, "commands.txt: object has no subcommand");
    String help = "object|help 2 - generic 2.2.3 - - Helps.";
    refused(object + "\n" + help, GETTING, "commands.txt, line 2: nothing answers it: " + help);
    refused(GET, handlers, "commands.txt: object|encoding is missing");
    refused(
        "get 2 1:1:1 string 1.0.0 write - Is refused.", GETTING, "commands.txt: get is missing");
    assertThat(CommandTable.read(String.join("\n", GET, object, encoding), handlers))
        .containsOnlyKeys("get", "object");
  }

  private static void refused(String text, Map<String, Handler> handlers, String message) {
    assertThatIllegalStateException()
        .isThrownBy(() -> CommandTable.read(text, handlers))
        .withMessage(message);
  }
}
