package tech.bsdb.tools;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;

/**
 * What the signal HUP does in place of ending the process. Thread-safe.
 *
 * <p>The JDK has one interface for it, {@code sun.misc.Signal}, which every Java from 17 on exports
 * from {@code jdk.unsupported}. It is called by reflection: javac warns of the plain call, and the
 * warning cannot be suppressed.
 */
final class HangUp {
  private @Nullable Runnable task;
  private boolean cameBefore;

  private HangUp() {}

  /**
   * Takes the signal from now on.
   *
   * @throws UnsupportedOperationException if this system, this JVM (-Xrs), or whoever started the
   *     process (nohup) does not allow it
   */
  static HangUp caught() {
    HangUp caught = new HangUp();
    try {
      Class<?> signal = Class.forName("sun.misc.Signal");
      Class<?> handler = Class.forName("sun.misc.SignalHandler");
      Object calls =
          Proxy.newProxyInstance(
              HangUp.class.getClassLoader(),
              new Class<?>[] {handler},
              (proxy, method, arguments) ->
                  switch (method.getName()) {
                    case "handle" -> {
                      caught.came();
                      yield null;
                    }
                    case "equals" -> proxy == arguments[0];
                    case "hashCode" -> System.identityHashCode(proxy);
                    default -> "what SIGHUP does";
                  });
      Object hangUp = signal.getConstructor(String.class).newInstance("HUP");
      Object before = signal.getMethod("handle", signal, handler).invoke(null, hangUp, calls);
      if (before == handler.getField("SIG_IGN").get(null)) { // the JVM leaves it so
        throw new UnsupportedOperationException("it was ignored at the start, as nohup does");
      }
      return caught;
    } catch (InvocationTargetException e) {
      throw new UnsupportedOperationException(String.valueOf(e.getCause()), e);
    } catch (ReflectiveOperationException | IllegalArgumentException e) {
      throw new UnsupportedOperationException(e.toString(), e);
    }
  }

  private void came() {
    Runnable known;
    synchronized (this) {
      known = task;
      cameBefore |= known == null;
    }
    if (known != null) {
      known.run();
    }
  }

  /** Says what the signal does from now on, and does it at once if the signal came already. */
  void does(Runnable now) {
    boolean atOnce;
    synchronized (this) {
      task = now;
      atOnce = cameBefore;
      cameBefore = false;
    }
    if (atOnce) {
      now.run();
    }
  }
}
