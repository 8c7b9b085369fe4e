package tech.bsdb.tools;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

/** The signal SIGHUP. */
final class HangUp {
  private HangUp() {}

  /**
   * From now on, runs a task at each signal, on a thread of its own, instead of ending the process.
   *
   * <p>The JDK's only interface for signals is {@code sun.misc.Signal}, which every Java from 17 on
   * exports from {@code jdk.unsupported}. It is called by reflection because javac warns about
   * direct calls and the warning cannot be suppressed.
   *
   * @throws UnsupportedOperationException if this system, this JVM (-Xrs), or whoever started the
   *     process (nohup) does not allow it
   */
  static void onSignal(Runnable task) {
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
                      task.run();
                      yield null;
                    }
                    case "equals" -> proxy == arguments[0];
                    case "hashCode" -> System.identityHashCode(proxy);
                    default -> "SIGHUP handler";
                  });
      Object hangUp = signal.getConstructor(String.class).newInstance("HUP");
      Object before = signal.getMethod("handle", signal, handler).invoke(null, hangUp, calls);
      if (before == handler.getField("SIG_IGN").get(null)) { // the JVM keeps it ignored
        throw new UnsupportedOperationException(
            "it was already ignored at startup, as under nohup");
      }
    } catch (InvocationTargetException e) {
      throw new UnsupportedOperationException(String.valueOf(e.getCause()), e);
    } catch (ReflectiveOperationException | IllegalArgumentException e) {
      throw new UnsupportedOperationException(e.toString(), e);
    }
  }
}
