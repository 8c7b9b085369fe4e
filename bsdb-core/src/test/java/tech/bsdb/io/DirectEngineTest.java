package tech.bsdb.io;

/** Direct reads, by system calls where they can be made. */
class DirectEngineTest extends EngineContract {
  @Override
  Engine engine() {
    return new DirectEngine(16);
  }
}
