package tech.bsdb.tools.serve.cluster;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.io.JsonEOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
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
  private static final JsonFactory JSON =
      JsonFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,252}");
  private static final Pattern HOST =
      Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,252}|(?=.*:.*:)[0-9A-Fa-f:.]{2,45}");

  /** The most characters of a wrong value that are shown. */
  private static final int SHOWN = 80;

  private static final Set<String> OF_PRIMARY =
      Set.of("name", "host", "resp", "http", "slots", "replicas");
  private static final Set<String> OF_REPLICA = Set.of("name", "host", "resp", "http");

  private final JsonParser parser;

  private TopologyReader(JsonParser parser) {
    this.parser = parser;
  }

  /**
   * Reads and checks a topology.
   *
   * @throws IllegalArgumentException if it is not one, with the line where that is known
   */
  static Topology read(byte[] json) {
    try (JsonParser parser = JSON.createParser(json)) {
      return Topology.of(new TopologyReader(parser).file());
    } catch (JsonEOFException e) {
      throw new IllegalArgumentException(line(e.getLocation()) + "the JSON ends too early");
    } catch (JsonProcessingException e) {
      String reason = shown(e.getOriginalMessage(), 4 * SHOWN);
      throw new IllegalArgumentException(line(e.getLocation()) + reason);
    } catch (IOException e) {
      throw new IllegalArgumentException("not JSON in UTF-8: " + e.getMessage());
    }
  }

  private static String line(@Nullable JsonLocation location) {
    return location == null ? "" : "line " + location.getLineNr() + ": ";
  }

  private IllegalArgumentException wrong(String message) {
    return new IllegalArgumentException(line(parser.currentTokenLocation()) + message);
  }

  private static String shown(String value) {
    return shown(value, SHOWN);
  }

  private static String shown(String value, int most) {
    return value.length() <= most ? value : value.substring(0, most) + "...";
  }

  private List<ReplicaGroup> file() throws IOException {
    List<ReplicaGroup> groups = null;
    if (parser.nextToken() != JsonToken.START_OBJECT) {
      throw wrong("expected an object with the list \"nodes\"");
    }
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      if (!parser.currentName().equals("nodes")) {
        throw wrong("\"" + shown(parser.currentName()) + "\" is unknown; expected \"nodes\"");
      }
      groups = list(this::primary);
    }
    if (parser.nextToken() != null) {
      throw wrong("something follows the object");
    }
    if (groups == null || groups.isEmpty()) {
      throw new IllegalArgumentException("there are no nodes; list them in \"nodes\"");
    }
    return groups;
  }

  private interface Element<T> {
    T read() throws IOException;
  }

  private <T> List<T> list(Element<T> element) throws IOException {
    String name = parser.currentName();
    if (parser.nextToken() != JsonToken.START_ARRAY) {
      throw wrong("\"" + name + "\" must be a list");
    }
    List<T> elements = new ArrayList<>();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      if (parser.currentToken() != JsonToken.START_OBJECT) {
        throw wrong("each element of \"" + name + "\" must be an object");
      }
      elements.add(element.read());
    }
    return elements;
  }

  private ReplicaGroup primary() throws IOException {
    NodeFields fields = new NodeFields(OF_PRIMARY);
    ClusterNode node = fields.node();
    String slots = fields.slots;
    if (slots == null) {
      throw wrong("node " + node.name() + " has no \"slots\"; write \"\" for a node without slots");
    }
    try {
      return new ReplicaGroup(node, SlotSet.parse(slots), fields.replicas);
    } catch (IllegalArgumentException e) {
      throw wrong("node " + node.name() + ": " + shown(String.valueOf(e.getMessage()), 4 * SHOWN));
    }
  }

  private ClusterNode replica() throws IOException {
    return new NodeFields(OF_REPLICA).node();
  }

  /** The fields of a node, which the parser has entered. */
  private final class NodeFields {
    private @Nullable String name;
    private @Nullable String host;
    private @Nullable String slots;
    private int respPort = ClusterNode.NO_PORT;
    private int httpPort = ClusterNode.NO_PORT;
    private List<ClusterNode> replicas = List.of();

    NodeFields(Set<String> known) throws IOException {
      while (parser.nextToken() != JsonToken.END_OBJECT) {
        String field = parser.currentName();
        if (!known.contains(field)) {
          throw wrong("\"" + shown(field) + "\" is unknown; a node has " + names(known));
        }
        switch (field) {
          case "name" -> name = text(NAME, "letters, digits, hyphens, underscores and dots");
          case "host" -> host = text(HOST, "a host name or an address, without a port");
          case "resp" -> respPort = port();
          case "http" -> httpPort = port();
          case "slots" -> slots = text();
          default -> replicas = list(TopologyReader.this::replica);
        }
      }
    }

    private static String names(Set<String> known) {
      return String.join(", ", known.stream().sorted().toList());
    }

    private String text() throws IOException {
      String field = parser.currentName();
      if (parser.nextToken() != JsonToken.VALUE_STRING) {
        throw wrong("\"" + field + "\" must be a string");
      }
      return parser.getText();
    }

    private String text(Pattern allowed, String what) throws IOException {
      String field = parser.currentName();
      String value = text();
      if (!allowed.matcher(value).matches()) {
        throw wrong("\"" + field + "\" must be " + what + ", not \"" + shown(value) + "\"");
      }
      return value;
    }

    private int port() throws IOException {
      String field = parser.currentName();
      if (parser.nextToken() != JsonToken.VALUE_NUMBER_INT
          || parser.getNumberType() != JsonParser.NumberType.INT
          || parser.getIntValue() < 1
          || parser.getIntValue() > 65_535) {
        throw wrong("\"" + field + "\" must be a port, 1 to 65,535");
      }
      return parser.getIntValue();
    }

    ClusterNode node() {
      String named = name;
      if (named == null) {
        throw wrong("a node has no \"name\"");
      }
      String at = host;
      if (at == null) {
        throw wrong("node " + named + " has no \"host\"");
      }
      if (respPort < 0 && httpPort < 0) {
        throw wrong("node " + named + " has no port: \"resp\", \"http\" or both");
      }
      return new ClusterNode(named, at, respPort, httpPort);
    }
  }
}
