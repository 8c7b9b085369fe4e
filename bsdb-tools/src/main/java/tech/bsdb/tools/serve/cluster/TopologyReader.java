package tech.bsdb.tools.serve.cluster;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.io.JsonEOFException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import tech.bsdb.tools.serve.cluster.Topology.ClusterNode;
import tech.bsdb.tools.serve.cluster.Topology.ReplicaGroup;

/**
 * Reads a topology from JSON:
 *
 * <pre>{@code
 * {"nodes": [
 *   {"name": "a", "host": "10.0.0.1", "resp": 6379, "http": 9999, "slots": "0-8191",
 *    "replicas": [{"name": "a2", "host": "10.0.0.3", "resp": 6379, "http": 9999}]},
 *   {"name": "b", "host": "10.0.0.2", "resp": 6379, "http": 9999, "slots": "8192-16383"}
 * ]}
 * }</pre>
 */
final class TopologyReader {
  private static final ObjectReader JSON =
      JsonMapper.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build()
          .reader();
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,252}");
  private static final Pattern HOST =
      Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,252}|(?=.*:.*:)[0-9A-Fa-f:.]{2,45}");
  private static final Pattern ANY = Pattern.compile(".*", Pattern.DOTALL);
  private static final Set<String> OF_PRIMARY =
      Set.of("name", "host", "resp", "http", "slots", "replicas");
  private static final Set<String> OF_REPLICA = Set.of("name", "host", "resp", "http");

  /** The most characters of a wrong value that are shown. */
  private static final int SHOWN = 80;

  private TopologyReader() {}

  /**
   * Reads and checks a topology.
   *
   * @throws IllegalArgumentException if it is not one, with the line or node that is wrong
   */
  static Topology read(byte[] json) {
    JsonNode file;
    try {
      file = JSON.readTree(json);
    } catch (JsonEOFException e) {
      throw wrong(line(e), "the JSON ends too early");
    } catch (MismatchedInputException e) {
      throw wrong(line(e), "something follows the object");
    } catch (JsonProcessingException e) {
      throw wrong(line(e), shown(e.getOriginalMessage(), 4 * SHOWN));
    } catch (IOException e) {
      throw wrong("", "not JSON in UTF-8: " + e.getMessage());
    }
    if (!file.isObject()) {
      throw wrong("", "expected an object with the list \"nodes\"");
    }
    requireKnown(file, "", Set.of("nodes"));
    List<ReplicaGroup> groups = list(file, "", "nodes", TopologyReader::primary);
    if (groups.isEmpty()) {
      throw wrong("", "there are no nodes; list them in \"nodes\"");
    }
    return Topology.of(groups);
  }

  /** An element of a list, and which one it is, for people. */
  private interface Element<T> {
    T read(JsonNode element, String which);
  }

  private static <T> List<T> list(JsonNode of, String place, String field, Element<T> element) {
    List<T> elements = new ArrayList<>();
    JsonNode list = of.get(field);
    if (list != null && !list.isArray()) {
      throw wrong(place, "\"" + field + "\" must be a list");
    }
    for (JsonNode each : list == null ? List.<JsonNode>of() : list) {
      if (!each.isObject()) {
        throw wrong(place, "each element of \"" + field + "\" must be an object");
      }
      String name = each.path("name").asText();
      int number = elements.size() + 1;
      String which = name.isEmpty() ? number + " of \"" + field + "\"" : shown(name, SHOWN);
      elements.add(element.read(each, "node " + which));
    }
    return elements;
  }

  private static ReplicaGroup primary(JsonNode of, String which) {
    ClusterNode node = node(of, which, OF_PRIMARY);
    if (!of.has("slots")) {
      throw wrong("", which + " has no \"slots\"; write \"\" for a node without slots");
    }
    List<ClusterNode> replicas =
        list(of, which, "replicas", (each, replica) -> node(each, replica, OF_REPLICA));
    String slots = text(of, which, "slots", ANY, "");
    try {
      return new ReplicaGroup(node, SlotSet.parse(slots), replicas);
    } catch (IllegalArgumentException e) {
      throw wrong(which, shown(String.valueOf(e.getMessage()), 4 * SHOWN));
    }
  }

  private static ClusterNode node(JsonNode of, String which, Set<String> known) {
    requireKnown(of, which, known);
    String name = text(of, which, "name", NAME, "letters, digits, hyphens, underscores and dots");
    String host = text(of, which, "host", HOST, "a host name or an address, without a port");
    if (!of.has("resp") && !of.has("http")) {
      throw wrong("", which + " has no port: \"resp\", \"http\" or both");
    }
    return new ClusterNode(name, host, port(of, which, "resp"), port(of, which, "http"));
  }

  private static void requireKnown(JsonNode of, String which, Set<String> known) {
    of.fieldNames()
        .forEachRemaining(
            field -> {
              if (!known.contains(field)) {
                String expected = String.join(", ", known.stream().sorted().toList());
                throw wrong(
                    which, "\"" + shown(field, SHOWN) + "\" is unknown; expected " + expected);
              }
            });
  }

  private static String text(
      JsonNode of, String which, String field, Pattern allowed, String what) {
    JsonNode value = of.get(field);
    if (value == null) {
      throw wrong("", which + " has no \"" + field + "\"");
    }
    if (!value.isTextual()) {
      throw wrong(which, "\"" + field + "\" must be a string");
    }
    String text = value.textValue();
    if (!allowed.matcher(text).matches()) {
      throw wrong(
          which, "\"" + field + "\" must be " + what + ", not \"" + shown(text, SHOWN) + "\"");
    }
    return text;
  }

  private static int port(JsonNode of, String which, String field) {
    JsonNode value = of.get(field);
    if (value == null) {
      return ClusterNode.NO_PORT;
    }
    if (!value.isInt() || value.intValue() < 1 || value.intValue() > 65_535) {
      throw wrong(which, "\"" + field + "\" must be a port, 1 to 65,535");
    }
    return value.intValue();
  }

  private static String line(JsonProcessingException e) {
    return e.getLocation() == null ? "" : "line " + e.getLocation().getLineNr();
  }

  private static String shown(String value, int most) {
    return value.length() <= most ? value : value.substring(0, most) + "...";
  }

  private static IllegalArgumentException wrong(String place, String message) {
    return new IllegalArgumentException(place.isEmpty() ? message : place + ": " + message);
  }
}
