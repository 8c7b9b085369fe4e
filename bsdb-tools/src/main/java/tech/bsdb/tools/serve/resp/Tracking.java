package tech.bsdb.tools.serve.resp;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a client has agreed about {@code CLIENT TRACKING}. Values change only when another version
 * is served, and then all of them may, so whatever the mode, a client that tracks is told once for
 * each new version that nothing it knows is valid, or none of the {@link TrackedKeys}.
 *
 * @param mode {@code bcast}, {@code optin}, {@code optout} or empty
 * @param noLoop accepted, for clients change nothing
 * @param prefixes accepted, with the mode {@code bcast}
 */
record Tracking(String mode, boolean noLoop, List<byte[]> prefixes) {
  /** The most bytes of all prefixes, which are not counted as held memory. */
  private static final int MOST_PREFIXES = 16 << 10;

  /** What a prefix takes besides its bytes. */
  private static final int OVERHEAD = 32;

  private static final String SWITCHED =
      " before disabling tracking for this client, and then re-enabling it with a different mode.";

  static void track(Session session, List<byte[]> arguments, ReplyWriter out)
      throws CommandException {
    session.track(of(arguments, session.tracking(), session.resp3));
    out.ok();
  }

  /**
   * Reads the arguments of {@code CLIENT TRACKING}.
   *
   * @param before what was agreed before, or null
   * @return null if tracking is switched off
   */
  private static @Nullable Tracking of(
      List<byte[]> arguments, @Nullable Tracking before, boolean resp3) throws CommandException {
    String mode = "";
    boolean bcast = false;
    boolean noLoop = false;
    List<byte[]> prefixes = new ArrayList<>();
    long bytes = 0;
    for (int i = 3; i < arguments.size(); i++) {
      String option = Arguments.name(arguments.get(i));
      switch (option) {
        case "bcast" -> bcast = true;
        case "noloop" -> noLoop = true;
        case "optin", "optout" -> {
          if (!mode.isEmpty() && !mode.equals(option)) {
            throw new CommandException("ERR You can't specify both OPTIN mode and OPTOUT mode");
          }
          mode = option;
        }
        case "prefix", "redirect" -> {
          if (++i == arguments.size()) {
            throw new CommandException(CommandException.SYNTAX);
          }
          if (option.equals("redirect")) {
            throw new CommandException(
                "ERR REDIRECT is refused: invalidations are sent to the connection itself, in"
                    + " RESP3 (HELLO 3)");
          }
          bytes += arguments.get(i).length + OVERHEAD;
          if (bytes > MOST_PREFIXES) {
            throw new CommandException(
                "ERR the prefixes are longer than " + MOST_PREFIXES + " bytes");
          }
          prefixes.add(arguments.get(i));
        }
        default -> throw new CommandException(CommandException.SYNTAX);
      }
    }
    boolean on = Arguments.is(arguments.get(2), "on");
    if (!on && !Arguments.is(arguments.get(2), "off")) {
      throw new CommandException(CommandException.SYNTAX);
    }
    if (!on) {
      return null;
    }
    if (!bcast && !prefixes.isEmpty()) {
      throw new CommandException("ERR PREFIX option requires BCAST mode to be enabled");
    }
    if (before != null && before.mode.equals("bcast") != bcast) {
      throw new CommandException("ERR You can't switch BCAST mode on/off" + SWITCHED);
    }
    if (bcast && !mode.isEmpty()) {
      throw new CommandException("ERR OPTIN and OPTOUT are not compatible with BCAST");
    }
    if (before != null && !bcast && !before.mode.equals(mode)) {
      throw new CommandException("ERR You can't switch OPTIN/OPTOUT mode" + SWITCHED);
    }
    if (!resp3) {
      throw new CommandException(
          "ERR CLIENT TRACKING needs RESP3 (HELLO 3), because RESP2 has no invalidations");
    }
    return new Tracking(bcast ? "bcast" : mode, noLoop, List.copyOf(prefixes));
  }

  /** Accepts {@code CLIENT CACHING} if it is as it may be; it changes nothing. */
  static void caching(Session session, List<byte[]> arguments, ReplyWriter out)
      throws CommandException {
    Tracking before = session.tracking();
    byte[] argument = arguments.get(2);
    if (before == null || !before.mode.startsWith("opt")) {
      throw new CommandException(
          "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or"
              + " OPTOUT mode enabled");
    }
    boolean yes = Arguments.is(argument, "yes");
    if (!yes && !Arguments.is(argument, "no")) {
      throw new CommandException(CommandException.SYNTAX);
    }
    if (yes != before.mode.equals("optin")) {
      throw new CommandException(
          yes
              ? "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode."
              : "ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.");
    }
    out.ok();
  }

  static void info(Session session, List<byte[]> arguments, ReplyWriter out) {
    Tracking tracking = session.tracking();
    List<String> flags = new ArrayList<>();
    flags.add(tracking == null ? "off" : "on");
    if (tracking != null) {
      if (!tracking.mode.isEmpty()) {
        flags.add(tracking.mode);
      }
      if (tracking.noLoop) {
        flags.add("noloop");
      }
    }
    out.map(3);
    out.bulk("flags");
    out.set(flags.size());
    flags.forEach(out::bulk);
    out.entry("redirect", tracking == null ? -1 : 0);
    out.entry("prefixes", tracking == null ? List.of() : tracking.prefixes);
  }
}
