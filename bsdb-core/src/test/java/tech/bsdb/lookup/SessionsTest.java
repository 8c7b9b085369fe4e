package tech.bsdb.lookup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tech.bsdb.Rounds;

/** A session is lent to one lookup at a time, and none is out when close returns. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SessionsTest {
  private static void giveBack(Session session) {
    session.state = Session.FREE;
  }

  @Test
  void noSessionIsOutOnceItIsClosed() throws Exception {
    int threads = 8;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      for (int round = 0; round < Rounds.of(21); round++) {
        Sessions sessions = new Sessions(Path.of("database"));
        AtomicInteger out = new AtomicInteger();
        AtomicBoolean closed = new AtomicBoolean();
        CountDownLatch started = new CountDownLatch(threads);
        List<Future<Integer>> takers = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
          takers.add(
              pool.submit(
                  () -> {
                    started.countDown();
                    for (int taken = 0; ; taken++) {
                      Session session;
                      try {
                        session = sessions.take();
                      } catch (IllegalStateException e) {
                        return taken;
                      }
                      out.incrementAndGet();
                      if (closed.get()) {
                        throw new AssertionError("lent after close returned");
                      }
                      session.signature.compute(new byte[taken % 40], 0, taken % 40, 0);
                      out.decrementAndGet();
                      giveBack(session);
                    }
                  }));
        }
        started.await();
        if (round % 3 == 0) {
          Thread.onSpinWait();
        } else {
          TimeUnit.MICROSECONDS.sleep(round % 7 * 50L);
        }
        assertThat(sessions.close()).isTrue();
        closed.set(true);
        assertThat(out).hasValue(0);
        for (Future<Integer> taker : takers) {
          taker.get();
        }
        for (int i = 0; i < 3; i++) {
          assertThatThrownBy(sessions::take).isInstanceOf(IllegalStateException.class);
        }
        assertThat(sessions.close()).isFalse();
      }
    } finally {
      pool.shutdownNow();
    }
  }

  @Test
  void closeWaitsForASessionThatIsOut() throws Exception {
    for (int guests = 0; guests < 3; guests++) {
      Sessions sessions = new Sessions(Path.of("database"));
      List<Session> out = new ArrayList<>();
      for (int i = 0; i <= guests; i++) {
        out.add(sessions.take());
      }
      ExecutorService closer = Executors.newSingleThreadExecutor();
      try {
        Future<Boolean> closing = closer.submit(() -> sessions.close());
        awaitRefusal(sessions);
        assertThatThrownBy(() -> closing.get(50, TimeUnit.MILLISECONDS))
            .isInstanceOf(TimeoutException.class);
        for (int i = 0; i < 100; i++) {
          assertThatThrownBy(sessions::take).isInstanceOf(IllegalStateException.class);
        }
        for (Session session : out) {
          assertThat(closing.isDone()).isFalse();
          giveBack(session);
        }
        assertThat(closing.get()).isTrue();
      } finally {
        closer.shutdownNow();
      }
    }
  }

  @Test
  void freeSessionsAreLentAgain() throws IOException {
    Sessions sessions = new Sessions(Path.of("database"));
    Set<Session> all = new HashSet<>();
    for (int round = 0; round < 10; round++) {
      List<Session> taken = takeAll(sessions, 400);
      assertThat(taken).doesNotHaveDuplicates();
      all.addAll(taken);
      taken.forEach(SessionsTest::giveBack);
    }
    assertThat(all).hasSizeLessThanOrEqualTo(451);
    assertThat(sessions.close()).isTrue();
  }

  @Test
  void closeWaitsForTheLastOfMany() throws Exception {
    for (int last : new int[] {0, 1, 330}) {
      Sessions sessions = new Sessions(Path.of("database"));
      List<Session> out = takeAll(sessions, 331);
      ExecutorService closer = Executors.newSingleThreadExecutor();
      try {
        Session lastOut = out.remove(last);
        out.forEach(SessionsTest::giveBack);
        Future<Boolean> closing = closer.submit(() -> sessions.close());
        awaitRefusal(sessions);
        assertThatThrownBy(() -> closing.get(20, TimeUnit.MILLISECONDS))
            .isInstanceOf(TimeoutException.class);
        assertThatThrownBy(sessions::take).isInstanceOf(IllegalStateException.class);
        giveBack(lastOut);
        assertThat(closing.get()).isTrue();
      } finally {
        closer.shutdownNow();
      }
    }
  }

  @Test
  void brokenSessionsAreReplacedAndDoNotHoldUpClosing() throws IOException {
    Sessions sessions = new Sessions(Path.of("database"));
    Set<Session> broken = new HashSet<>();
    Set<Session> all = new HashSet<>();
    for (int round = 0; round < 20; round++) {
      List<Session> taken = takeAll(sessions, 300);
      all.addAll(taken);
      assertThat(taken).doesNotHaveDuplicates().noneMatch(broken::contains);
      for (int i = 0; i < taken.size(); i++) {
        if (i % 3 == round % 3) {
          taken.get(i).state = Session.BROKEN;
          broken.add(taken.get(i));
        } else {
          giveBack(taken.get(i));
        }
      }
    }
    assertThat(all.size() - broken.size()).isLessThanOrEqualTo(400);
    sessions.take().state = Session.BROKEN;
    assertThat(sessions.close()).isTrue();
  }

  private static List<Session> takeAll(Sessions sessions, int count) {
    List<Session> taken = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      taken.add(sessions.take());
    }
    return taken;
  }

  /** Each session is one thread's at a time. */
  @Test
  void noSessionIsLentTwice() throws Exception {
    int threads = 320;
    Sessions sessions = new Sessions(Path.of("database"));
    ConcurrentHashMap<Session, Thread> out = new ConcurrentHashMap<>();
    CountDownLatch allHold = new CountDownLatch(threads);
    List<Callable<Boolean>> takers = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      takers.add(
          () -> {
            boolean alone = true;
            for (int round = 0; round < 100; round++) {
              Session session = sessions.take();
              alone &= out.put(session, Thread.currentThread()) == null;
              if (round == 0) {
                allHold.countDown();
                allHold.await();
              } else if (round % 8 == 0) {
                Thread.onSpinWait();
              }
              alone &= out.remove(session) == Thread.currentThread();
              giveBack(session);
            }
            return alone;
          });
    }
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      for (Future<Boolean> taker : pool.invokeAll(takers)) {
        assertThat(taker.get()).isTrue();
      }
    } finally {
      pool.shutdownNow();
    }
    assertThat(sessions.close()).isTrue();
  }

  /** Whatever sessions other threads have, and however many its own lookups within lookups. */
  @Test
  void aThreadKnowsWhetherItHasASession() throws Exception {
    Sessions sessions = new Sessions(Path.of("database"));
    ExecutorService other = Executors.newSingleThreadExecutor();
    try {
      for (int count : new int[] {1, 3, 300}) {
        for (Session session : takeAll(sessions, count)) {
          assertThat(sessions.areInUseHere()).isTrue();
          assertThat(other.submit(sessions::areInUseHere).get()).isFalse();
          giveBack(session);
        }
        assertThat(sessions.areInUseHere()).isFalse();
      }
    } finally {
      other.shutdownNow();
    }
  }

  @Test
  void anInterruptedCloseWaitsAllTheSameAndKeepsTheInterrupt() throws Exception {
    Sessions sessions = new Sessions(Path.of("database"));
    Session first = sessions.take();
    Session guest = sessions.take();
    AtomicBoolean kept = new AtomicBoolean();
    CountDownLatch closed = new CountDownLatch(1);
    Thread closer =
        new Thread(
            () -> {
              try {
                sessions.close();
              } catch (IOException e) {
                return;
              }
              kept.set(Thread.interrupted());
              closed.countDown();
            });
    closer.start();
    TimeUnit.MILLISECONDS.sleep(20);
    closer.interrupt();
    assertThat(closed.await(50, TimeUnit.MILLISECONDS)).isFalse();
    giveBack(first);
    assertThat(closed.await(50, TimeUnit.MILLISECONDS)).isFalse();
    giveBack(guest);
    closer.join();
    assertThat(kept).isTrue();
  }

  @Test
  void aSessionThatAFaultLostDoesNotHoldUpClosing() throws IOException {
    Sessions sessions = new Sessions(Path.of("database"));
    sessions.take();
    assertThat(sessions.unreadable(new InternalError())).hasMessageContaining("cut short");
    assertThatThrownBy(sessions::close)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("its files stay open");
    assertThat(sessions.close()).isFalse();
    assertThatThrownBy(sessions::take).isInstanceOf(IllegalStateException.class);
  }

  /** Waits until the sessions are closing. */
  private static void awaitRefusal(Sessions sessions) {
    while (true) {
      try {
        giveBack(sessions.take());
        Thread.onSpinWait();
      } catch (IllegalStateException e) {
        return;
      }
    }
  }
}
