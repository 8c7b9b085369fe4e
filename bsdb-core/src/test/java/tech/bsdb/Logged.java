package tech.bsdb;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import org.slf4j.ILoggerFactory;
import org.slf4j.IMarkerFactory;
import org.slf4j.Logger;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.BasicMarkerFactory;
import org.slf4j.helpers.LegacyAbstractLogger;
import org.slf4j.helpers.MessageFormatter;
import org.slf4j.helpers.NOPMDCAdapter;
import org.slf4j.spi.MDCAdapter;
import org.slf4j.spi.SLF4JServiceProvider;

/** What bsdb logs in tests, kept for them to look at. */
public final class Logged implements SLF4JServiceProvider {
  private static final Queue<String> LINES = new ConcurrentLinkedQueue<>();

  private final IMarkerFactory markers = new BasicMarkerFactory();
  private final MDCAdapter context = new NOPMDCAdapter();
  private final ConcurrentMap<String, Logger> loggers = new ConcurrentHashMap<>();

  /** The lines, each with its level first, that hold a text. */
  public static List<String> lines(String text) {
    return LINES.stream().filter(line -> line.contains(text)).toList();
  }

  @Override
  public ILoggerFactory getLoggerFactory() {
    return name -> loggers.computeIfAbsent(name, Recorder::new);
  }

  @Override
  public IMarkerFactory getMarkerFactory() {
    return markers;
  }

  @Override
  public MDCAdapter getMDCAdapter() {
    return context;
  }

  @Override
  public String getRequestedApiVersion() {
    return "2.0.99";
  }

  @Override
  public void initialize() {}

  private static final class Recorder extends LegacyAbstractLogger {
    private static final long serialVersionUID = 1L;

    Recorder(String name) {
      this.name = name;
    }

    @Override
    protected String getFullyQualifiedCallerName() {
      return Recorder.class.getName();
    }

    @Override
    protected void handleNormalizedLoggingCall(
        Level level, Marker marker, String message, Object[] arguments, Throwable thrown) {
      LINES.add(level + " " + MessageFormatter.arrayFormat(message, arguments).getMessage());
    }

    @Override
    public boolean isTraceEnabled() {
      return isOurs();
    }

    @Override
    public boolean isDebugEnabled() {
      return isOurs();
    }

    @Override
    public boolean isInfoEnabled() {
      return isOurs();
    }

    @Override
    public boolean isWarnEnabled() {
      return isOurs();
    }

    @Override
    public boolean isErrorEnabled() {
      return isOurs();
    }

    private boolean isOurs() {
      return name.startsWith("tech.bsdb.");
    }
  }
}
