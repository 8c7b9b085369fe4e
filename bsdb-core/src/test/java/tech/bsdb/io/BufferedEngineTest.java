package tech.bsdb.io;

class BufferedEngineTest extends EngineContract {
  @Override
  Engine engine() {
    return new BufferedEngine();
  }
}
