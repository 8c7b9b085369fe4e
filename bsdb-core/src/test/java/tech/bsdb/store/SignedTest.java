package tech.bsdb.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PublicKey;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.Forgery;
import tech.bsdb.KeyFiles;
import tech.bsdb.Layout;
import tech.bsdb.Leaks;
import tech.bsdb.OpenOptions;
import tech.bsdb.Truth;
import tech.bsdb.VerifyScope;
import tech.bsdb.error.UntrustedException;
import tech.bsdb.format.ManifestSignature;
import tech.bsdb.format.ShardSet;
import tech.bsdb.mirror.FolderRanges;
import tech.bsdb.remote.RemoteOptions;
import tech.bsdb.transfer.TransferOptions;

/** Databases are read only if a trusted key has signed them, where that is required. */
class SignedTest {
  private static final byte[] KEY = "key 7".getBytes(StandardCharsets.UTF_8);

  private static KeyPair ours;
  private static KeyPair others;

  @TempDir Path directory;

  @BeforeAll
  static void makeKeys() throws Exception {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("Ed25519");
    ours = generator.generateKeyPair();
    others = generator.generateKeyPair();
  }

  private static List<PublicKey> trusted() {
    return List.of(others.getPublic(), ours.getPublic());
  }

  private static OpenOptions trusting(PublicKey... keys) {
    return OpenOptions.defaults().withTrusted(Arrays.asList(keys));
  }

  private static BuildOptions signed() {
    return BuildOptions.defaults().withSigningKey(ours.getPrivate());
  }

  private Path build(String name, BuildOptions options) throws IOException {
    Truth truth = new Truth();
    for (int i = 0; i < 50; i++) {
      truth.add("key " + i, "value " + i);
    }
    Path target = directory.resolve(name);
    truth.build(target, options);
    return target;
  }

  private static void refused(ThrowingCallable action) {
    refused(action, "signature");
  }

  private static void refused(ThrowingCallable action, String words) {
    assertThatThrownBy(action)
        .isInstanceOf(UntrustedException.class)
        .hasMessageContaining("manifest.bsdb")
        .hasMessageContaining(words);
  }

  private static void opens(Path path, OpenOptions options) throws IOException {
    try (Database database = Database.open(path, options)) {
      assertThat(database.get(KEY)).asString().isEqualTo("value 7");
    }
  }

  @ParameterizedTest
  @EnumSource
  void aSignedDatabaseIsOpenedByThoseWhoTrustTheKey(Layout layout) throws Exception {
    Path unsigned = build("unsigned", BuildOptions.defaults().withLayout(layout));
    Path path = build("signed", signed().withLayout(layout));
    assertThat(Database.statistics(path).databaseId())
        .isEqualTo(Database.statistics(unsigned).databaseId());
    opens(path, OpenOptions.defaults());
    opens(path, trusting(ours.getPublic()));
    opens(path, trusting(others.getPublic(), ours.getPublic()));
    Database.verify(path, VerifyScope.ALL, trusted(), (done, total) -> {});
    refused(() -> opens(path, trusting(others.getPublic())), "not by the trusted key");
    refused(() -> opens(unsigned, trusting(ours.getPublic())), "is not signed");
    refused(
        () ->
            Database.verify(
                unsigned, VerifyScope.CONTENT, List.of(ours.getPublic()), (done, all) -> {}));
  }

  @Test
  void aDatabaseIsSignedLaterAndAnew() throws Exception {
    Path path = build("rdb", BuildOptions.defaults());
    List<String> files = names(path);
    Database.sign(path, others.getPrivate());
    refused(() -> opens(path, trusting(ours.getPublic())));
    Database.sign(path, ours.getPrivate());
    opens(path, trusting(ours.getPublic()));
    assertThat(names(path)).isEqualTo(files);
    Database.verify(path, (done, total) -> {});
    KeyPairGenerator rsa = KeyPairGenerator.getInstance("RSA");
    rsa.initialize(1024);
    assertThatThrownBy(() -> Database.sign(path, rsa.generateKeyPair().getPrivate()))
        .isInstanceOf(IllegalArgumentException.class);
    opens(path, trusting(ours.getPublic()));
    assertThat(names(path)).isEqualTo(files);
  }

  private static List<String> names(Path path) throws IOException {
    try (var files = Files.list(path)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void aMergeIsSigned() throws Exception {
    Path base = build("base", BuildOptions.defaults());
    Path merged = directory.resolve("merged");
    try (Database database = Database.open(base);
        DatabaseBuilder builder =
            DatabaseBuilder.from(
                database,
                merged,
                BuildOptions.of(database).withSigningKey(ours.getPrivate()),
                (stage, done, total) -> {})) {
      builder.add("more".getBytes(StandardCharsets.UTF_8), KEY);
      builder.finish();
    }
    opens(merged, trusting(ours.getPublic()));
  }

  /** A manifest with other lines, and the signature of the one before. */
  private Path forged(Path original, List<String> lines) throws IOException {
    Path forged = Files.createDirectory(directory.resolve("forged"));
    Forgery.database(original, lines, forged);
    byte[] signedFile = Files.readAllBytes(Database.manifest(original));
    byte[] forgedFile = Files.readAllBytes(Database.manifest(forged));
    Files.write(Database.manifest(forged), ManifestSignature.copy(signedFile, forgedFile));
    return forged;
  }

  @Test
  void whatWasChangedAfterwardsIsRefused() throws Exception {
    Path path = build("rdb", signed());
    Path forged = forged(path, Forgery.with(Forgery.lines(path), "longest.value", "9"));
    opens(forged, OpenOptions.defaults());
    refused(() -> opens(forged, trusting(ours.getPublic())), "was changed");
  }

  @Test
  void aSetAndEachPartOfItIsSigned() throws Exception {
    Path set = build("set", signed().withShards(4));
    opens(set, trusting(ours.getPublic()));
    refused(() -> opens(set, trusting(others.getPublic())));
    Path store = directory.resolve("store");
    TransferOptions some =
        TransferOptions.defaults()
            .withTrusted(trusted())
            .withShards(new TreeSet<>(List.of(0, 1, 2)));
    pull(set, store, some);
    Path part = store.resolve(current(store));
    try (Database database = Database.open(part, trusting(ours.getPublic()))) {
      assertThat(database.statistics().records()).isPositive();
    }
    refused(() -> Database.open(part, trusting(others.getPublic())));
    List<String> lines = Forgery.lines(part);
    lines.replaceAll(line -> line.startsWith("set.id=") ? "set.id=" + "0".repeat(32) : line);
    byte[] before = Files.readAllBytes(Database.manifest(part));
    Forgery.manifest(part, lines);
    resign(part, before);
    Database.open(part).close();
    refused(() -> Database.open(part, trusting(ours.getPublic())), "was changed");
  }

  private static void resign(Path path, byte[] signed) throws IOException {
    Path manifest = Database.manifest(path);
    byte[] file = Files.readAllBytes(manifest);
    Files.write(manifest, ManifestSignature.copy(signed, file));
  }

  @Test
  void theShardsOfASetAreSignedToo() throws Exception {
    Path built = build("built", signed().withShards(3));
    Path later = build("later", BuildOptions.defaults().withShards(3));
    Database.sign(later, ours.getPrivate());
    for (Path set : List.of(built, later)) {
      for (Path shard : Forgery.shards(set)) {
        Database.open(shard, trusting(ours.getPublic())).close();
        refused(() -> Database.open(shard, trusting(others.getPublic())));
      }
    }
    for (String name : Leaks.tree(built)) {
      if (Files.isRegularFile(built.resolve(name))) {
        assertThat(later.resolve(name)).hasSameBinaryContentAs(built.resolve(name));
      }
    }
  }

  @Test
  void aShardOfAnotherSetIsRefused() throws Exception {
    Path set = build("set", signed().withShards(2));
    byte[] signedManifest = Files.readAllBytes(Database.manifest(set));
    ShardSet held = Forgery.set(set);
    ShardSet.Shard first = held.shards().get(0);
    Path original = set.resolve(first.directoryName());
    List<String> lines = Forgery.with(Forgery.lines(original), "longest.value", "11");
    ShardSet.Shard other = Forgery.shard(original, lines, set, 0, first.records());
    Forgery.set(set, List.of(other, held.shards().get(1)));
    resign(set, signedManifest);
    Database.open(set).close();
    refused(() -> Database.open(set, trusting(ours.getPublic())), "was changed");
  }

  /** Pulls unless what is there is current. */
  private static boolean pull(Path from, Path store, TransferOptions options) throws IOException {
    try (Publication publication =
        Publication.pull(new FolderOrigin(from), store, PublishOptions.defaults(), options)) {
      publication.begin();
      if (publication.isCurrent()) {
        return false;
      }
      publication.copy();
      publication.goLive(publication.current());
      return true;
    }
  }

  private static String current(Path store) throws IOException {
    return Files.readString(store.resolve("CURRENT")).split("\n", 2)[0];
  }

  @Test
  void whatIsHereIsCheckedUnderItsUriToo() throws Exception {
    Path path = build("rdb", BuildOptions.defaults());
    RemoteOptions options = RemoteOptions.defaults().withTrusted(trusted());
    URI uri = path.toUri();
    refused(() -> Database.open(uri, options).close());
    refused(() -> Database.getOnce(uri, KEY, options));
    refused(() -> Database.statistics(uri, options));
    refused(() -> Database.verify(uri, options, (done, total) -> {}));
    refused(() -> ReloadingDatabase.open(uri, options, ReloadOptions.defaults()).close());
    refused(() -> Database.statistics(path, trusted()));
    ReloadOptions trusting = ReloadOptions.defaults().withOpen(trusting(ours.getPublic()));
    refused(() -> ReloadingDatabase.open(uri, RemoteOptions.defaults(), trusting).close());
    assertThatThrownBy(
            () ->
                ReloadingDatabase.open(new FolderRanges(path), RemoteOptions.defaults(), trusting))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("those of RemoteOptions");
    Database.sign(path, ours.getPrivate());
    assertThat(Database.getOnce(uri, KEY, options)).asString().isEqualTo("value 7");
    assertThat(Database.statistics(path, trusted()).records()).isEqualTo(50);
  }

  @Test
  void whatHasNoContentHashesIsNotSigned() throws Exception {
    Path path = build("rdb", BuildOptions.defaults());
    Path older = Files.createDirectory(directory.resolve("older"));
    Forgery.database(path, Forgery.withoutHashes(path), older);
    assertThatThrownBy(() -> Database.sign(older, ours.getPrivate()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no content hashes");
    byte[] manifest = Files.readAllBytes(Database.manifest(older));
    Files.write(Database.manifest(older), ManifestSignature.sign(manifest, ours.getPrivate()));
    opens(older, OpenOptions.defaults());
    refused(() -> opens(older, trusting(ours.getPublic())), "content hashes");
  }

  @Test
  void signingAndReplacingTakeTurns() throws Exception {
    Path path = build("rdb", BuildOptions.defaults());
    AtomicBoolean done = new AtomicBoolean();
    FutureTask<Integer> signing =
        new FutureTask<>(
            () -> {
              int signed = 0;
              while (!done.get() || signed == 0) {
                Database.sign(path, ours.getPrivate());
                signed++;
              }
              return signed;
            });
    Thread thread = new Thread(signing);
    thread.start();
    try {
      for (int i = 0; i < 20; i++) {
        build("rdb", BuildOptions.defaults().withSeed(i).withOverwrite(true));
        opens(path, OpenOptions.defaults());
      }
    } finally {
      done.set(true);
    }
    assertThat(signing.get()).isPositive();
    Database.sign(path, ours.getPrivate());
    opens(path, trusting(ours.getPublic()));
    Database.verify(path, (all, total) -> {});
    assertThat(names(path)).hasSize(3);
  }

  @Test
  void onlyWhatIsSignedIsPulled() throws Exception {
    Path path = build("rdb", BuildOptions.defaults());
    Path store = directory.resolve("store");
    TransferOptions trusting = TransferOptions.defaults().withTrusted(trusted());
    refused(() -> pull(path, store, trusting), "is not signed");
    assertThat(store).doesNotExist();
    assertThat(pull(path, store, TransferOptions.defaults())).isTrue(); // a copy without signature
    Database.sign(path, ours.getPrivate());
    Path next = directory.resolve("next");
    assertThat(pull(path, next, trusting)).isTrue();
    opens(next.resolve(current(next)), trusting(ours.getPublic()));
    assertThat(pull(path, store, trusting)).as("again, with the signature").isTrue();
    opens(store.resolve(current(store)), trusting(ours.getPublic()));
    assertThat(pull(path, store, trusting)).isFalse();
  }

  @Test
  void aFollowedStoreKeepsItsVersionUntilTheNextIsSigned() throws Exception {
    Path store = directory.resolve("store");
    Versions.publish(build("one", signed()), store, "v1");
    BlockingQueue<String> refusals = new LinkedBlockingQueue<>();
    ReloadOptions options =
        ReloadOptions.defaults()
            .withOpen(trusting(ours.getPublic()))
            .withPoll(Duration.ofMillis(5))
            .withListener(
                new ReloadListener() {
                  @Override
                  public void refused(Refusal refusal) {
                    refusals.add(refusal.toString());
                  }
                });
    try (ReloadingDatabase database = ReloadingDatabase.open(store, options)) {
      Versions.publish(build("two", BuildOptions.defaults().withSeed(2)), store, "v2");
      assertThat(refusals.poll(60, TimeUnit.SECONDS)).contains("v2", "is not signed");
      assertThat(database.get(KEY)).asString().isEqualTo("value 7");
    }
    refused(() -> ReloadingDatabase.open(store, options));
  }

  @Test
  void whereItLiesItIsCheckedAtEachOpening() throws Exception {
    Path path = build("rdb", signed());
    RemoteOptions options =
        RemoteOptions.defaults()
            .withCache(directory.resolve("cache"))
            .withTrusted(List.of(ours.getPublic()));
    FolderRanges origin = new FolderRanges(path);
    try (Database database = Database.open(origin, options)) {
      assertThat(database.get(KEY)).asString().isEqualTo("value 7");
    }
    assertThat(Database.getOnce(origin, KEY, options, location -> {}))
        .asString()
        .isEqualTo("value 7");
    Database.sign(path, others.getPrivate());
    refused(() -> Database.open(origin, options).close(), "not by the trusted key");
    refused(() -> Database.getOnce(origin, KEY, options, location -> {}));
    refused(
        () -> Database.verify(origin, options, VerifyScope.CONTENT, (done, total) -> {}).bytes());
    Database.sign(path, ours.getPrivate());
    assertThat(Database.getOnce(origin, KEY, options, location -> {}))
        .asString()
        .isEqualTo("value 7");
  }

  private Path pem(String name, String... kindsAndKeys) throws IOException {
    StringBuilder text = new StringBuilder("a comment\n");
    for (int i = 0; i < kindsAndKeys.length; i += 2) {
      text.append("-----BEGIN ").append(kindsAndKeys[i]).append("-----\n");
      text.append(kindsAndKeys[i + 1]).append("\n-----END ").append(kindsAndKeys[i]);
      text.append("-----\n");
    }
    return Files.writeString(directory.resolve(name), text);
  }

  private static String base64(byte[] bytes) {
    return Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
  }

  @Test
  void keysAreReadFromFiles() throws Exception {
    String secret = base64(ours.getPrivate().getEncoded());
    String open = base64(ours.getPublic().getEncoded());
    String other = base64(others.getPublic().getEncoded());
    assertThat(KeyFiles.signing(pem("key.pem", "PRIVATE KEY", secret)))
        .isEqualTo(ours.getPrivate());
    assertThat(KeyFiles.trusted(pem("key.pub", "PUBLIC KEY", open, "PUBLIC KEY", other)))
        .isEqualTo(List.of(ours.getPublic(), others.getPublic()));
    bad(() -> KeyFiles.signing(pem("a", "PUBLIC KEY", open)), "holds no -----BEGIN PRIVATE KEY");
    bad(() -> KeyFiles.trusted(pem("b", "PRIVATE KEY", secret)), "holds no -----BEGIN PUBLIC KEY");
    bad(() -> KeyFiles.trusted(pem("c")), "holds no");
    bad(() -> KeyFiles.signing(pem("g", "ENCRYPTED PRIVATE KEY", secret)), "has a password");
    bad(() -> KeyFiles.trusted(directory), "is a directory");
    bad(() -> KeyFiles.trusted(pem("d", "PUBLIC KEY", "AAAA")), "not of Ed25519");
    bad(
        () -> KeyFiles.signing(pem("e", "PRIVATE KEY", secret, "PRIVATE KEY", secret)),
        "2 private keys");
    KeyPairGenerator rsa = KeyPairGenerator.getInstance("RSA");
    rsa.initialize(1024);
    String ofRsa = base64(rsa.generateKeyPair().getPublic().getEncoded());
    bad(() -> KeyFiles.trusted(pem("f", "PUBLIC KEY", ofRsa)), "not of Ed25519");
  }

  private static void bad(ThrowingCallable action, String words) {
    assertThatThrownBy(action).isInstanceOf(IOException.class).hasMessageContaining(words);
  }
}
