package tech.bsdb.tools.serve.resp;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import tech.bsdb.tools.cli.TextResource;
import tech.bsdb.tools.serve.client.Scope.Permission;

/** The table of commands is as it says, and everything in it is answered. */
class CommandTableTest {
  private static final Pattern LINE =
      Pattern.compile(
          "(?<name>[a-z_-]+(\\|[a-z-]+)?) +-?[1-9]"
              + " +(-|[1-9]:-?[1-9]:[1-9])"
              + " +(?<group>[a-z-]+)"
              + " +\\d+\\.\\d+\\.\\d+ +(?<flags>-|[a-z_,]+) +(-|[a-z_:]+(,[a-z_:]+)*)"
              + " +(?<answer>-|=(?<other>[a-z|-]+)|(?<reply>-ERR[^ ]*|[^-= ][^ ]*))"
              + " +(?<summary>[A-Z].*\\.)");
  private static final Pattern REPLY =
      Pattern.compile(
          "(\\*n,)?(:-?\\d+|\\+[A-Z]+|\\$[a-z0-9]+|-ERR_[A-Za-z_.,]+|_|[*%~]\\d+|\\*-1)"
              + "(,(:-?\\d+|\\$[a-z0-9_]+|_|[*%~]\\d+))*");
  private static final Set<String> FLAGS =
      Set.of(
          "-",
          "admin",
          "allow_busy",
          "blocking",
          "fast",
          "loading",
          "movablekeys",
          "no_async_loading",
          "no_auth",
          "no_mandatory_keys",
          "no_multi",
          "noscript",
          "pubsub",
          "readonly",
          "skip_monitor",
          "stale",
          "write");
  private static final Set<String> GROUPS =
      Set.of(
          "bitmap",
          "cluster",
          "connection",
          "generic",
          "geo",
          "hash",
          "hyperloglog",
          "list",
          "pubsub",
          "scripting",
          "server",
          "set",
          "sorted-set",
          "stream",
          "string",
          "transactions");

  @Test
  void everyLineHasItsColumns() {
    Set<String> names = new HashSet<>();
    List<String> unused = new ArrayList<>(CommandTable.HANDLERS.keySet());
    for (String line : TextResource.lines(CommandTable.class, "commands.txt")) {
      Matcher columns = LINE.matcher(line);
      assertThat(columns.matches()).as(line).isTrue();
      String name = columns.group("name");
      assertThat(names.add(name)).as(line).isTrue();
      assertThat(names).as(line).contains(CommandSpec.command(name));
      assertThat(FLAGS).as(line).contains(columns.group("flags").split(",", -1));
      assertThat(GROUPS).as(line).contains(columns.group("group"));
      String reply = columns.group("reply");
      if (reply != null) {
        for (String each : reply.split("[/|]", -1)) {
          assertThat(each.replaceFirst("^[A-Z]+=", "")).as(line).matches(REPLY);
        }
      } else if (columns.group("other") != null) {
        assertThat(CommandTable.HANDLERS).as(line).containsKey(columns.group("other"));
      } else {
        boolean refused =
            columns.group("flags").contains("write")
                || columns.group("summary").startsWith("Refused: ");
        boolean container = columns.group("flags").equals("-") && !name.contains("|");
        boolean named = unused.remove(name) || name.endsWith("|help");
        assertThat(refused || container || named).as(line).isTrue();
        assertThat(refused && named).as(line).isFalse();
      }
    }
    assertThat(unused).isEmpty();
  }

  @Test
  void everyCommandIsAnsweredOrRefusedOrAContainer() {
    TreeSet<String> answered = new TreeSet<>();
    for (CommandSpec spec : CommandTable.all()) {
      assertThat(spec.subcommands().isEmpty()).isEqualTo(!spec.subcommands().containsKey("help"));
      for (CommandSpec each : spec.subcommands().values()) {
        assertThat(CommandTable.find(each.name())).isSameAs(each);
        if (each.isRefused()) {
          String shown = each.name().toUpperCase(Locale.ROOT).replace('|', ' ');
          assertThat(((Handler.NeverAnswered) each.handler()).reply())
              .startsWith("ERR " + shown + " is refused: ");
        } else if (each.handler() == CommandTable.HANDLERS.get(each.name())) {
          answered.add(each.name());
        }
      }
      if (CommandTable.HANDLERS.containsKey(spec.name())) {
        assertThat(spec.handler()).isSameAs(CommandTable.HANDLERS.get(spec.name()));
        answered.add(spec.name());
      } else {
        assertThat(spec.isRefused() || !spec.isWrite()).as(spec.name()).isTrue();
      }
    }
    assertThat(answered).isEqualTo(CommandTable.HANDLERS.keySet());
  }

  @Test
  void aLineSaysAllAboutACommand() {
    assertThat(requireNonNull(CommandTable.find("mget")))
        .isEqualTo(
            new CommandSpec(
                "mget",
                -2,
                List.of("readonly", "fast"),
                new CommandSpec.Keys(1, -1, 1),
                "string",
                "1.0.0",
                List.of("request_policy:multi_shard"),
                "Returns the string values of keys, in one version of the data.",
                Permission.GET,
                requireNonNull(CommandTable.HANDLERS.get("mget")),
                Map.of()));
    assertThat(requireNonNull(CommandTable.find("touch")).handler())
        .isSameAs(CommandTable.HANDLERS.get("exists"));
    assertThat(requireNonNull(CommandTable.find("dbsize")).keys())
        .isEqualTo(new CommandSpec.Keys(0, 0, 0));
  }
}
