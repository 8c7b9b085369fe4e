package tech.bsdb.tools;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;

/**
 * Runs a task on SIGHUP instead of ending the process. Thread-safe.
 *
 * <p>The JDK's only interface for signals is {@code sun.misc.Signal}, which every Java from 17 on
 * exports from {@code jdk.unsupported}. It is called by reflection because javac warns about direct
 * calls and the warning cannot be suppressed.
 */
final class HangUp {
  private @Nullable Runnable task;
  private boolean pending;

  private HangUp() {}

  /**
   * Catches the signal from now on.
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
                      caught.received();
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
      return caught;
    } catch (InvocationTargetException e) {
      throw new UnsupportedOperationException(String.valueOf(e.getCause()), e);
    } catch (ReflectiveOperationException | IllegalArgumentException e) {
      throw new UnsupportedOperationException(e.toString(), e);
    }
  }

  private void received() {
    Runnable current;
    synchronized (this) {
      current = task;
      pending |= current == null;
    }
    if (current != null) {
      current.run();
    }
  }

  /**
   * Sets the task that the signal runs, and runs it immediately if the signal has already arrived.
   */
  void onSignal(Runnable newTask) {
    boolean atOnce;
    synchronized (this) {
      task = newTask;
      atOnce = pending;
      pending = false;
    }
    if (atOnce) {
      newTask.run();
    }
  }
}
