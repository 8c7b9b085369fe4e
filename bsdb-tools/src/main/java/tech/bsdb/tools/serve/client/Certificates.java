package tech.bsdb.tools.serve.client;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.util.Comparator.naturalOrder;

import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLException;
import tech.bsdb.tools.cli.SmallFile;

/**
 * The server's certificate chain and key.
 *
 * @param contexts the contexts for encrypted connections
 * @param notBefore when every certificate of the chain is valid
 * @param notAfter when the first certificate of the chain expires
 */
record Certificates(Contexts contexts, Instant notBefore, Instant notAfter) {
  private static final String KEY_HEADER = "-----BEGIN PRIVATE KEY-----";

  /** Signature algorithm by key algorithm. */
  private static final Map<String, String> SIGNATURES =
      Map.of("RSA", "SHA256withRSA", "EC", "SHA256withECDSA", "EdDSA", "EdDSA");

  /**
   * The context for new connections. If clients show certificates, another one takes its place from
   * time to time: Java does not verify the certificate of a session that is resumed, and resumes
   * each for as long as there is its context. Thread-safe.
   */
  static final class Contexts {
    private static final long MOST_NANOS = 60_000_000_000L;

    private final SslContextBuilder builder;
    private final boolean verifying;
    private SslContext context;
    private long madeNanos = System.nanoTime();

    private Contexts(SslContextBuilder builder, boolean verifying) throws SSLException {
      this.builder = builder;
      this.verifying = verifying;
      this.context = builder.build();
    }

    /** Returns the context for connections that are accepted at a time. */
    synchronized SslContext at(long nanos) {
      if (verifying && nanos - madeNanos >= MOST_NANOS) {
        try {
          context = builder.build();
        } catch (SSLException e) {
          throw new IllegalStateException("it was built of the same before", e);
        }
        madeNanos = nanos;
      }
      return context;
    }
  }

  /**
   * Reads a certificate chain and its key.
   *
   * @throws FileSystemException if a file is unusable, with what it should contain
   */
  static Certificates load(Credentials.TlsFiles files) throws IOException {
    String certificate =
        requirePem(files.certificate(), "-----BEGIN CERTIFICATE-----", "a PEM certificate");
    String key = requirePem(files.key(), "PRIVATE KEY-----", "a PEM private key");
    if (!key.contains(KEY_HEADER)) {
      throw new FileSystemException(
          files.key().toString(),
          null,
          "not an unencrypted PKCS#8 key; convert it with: openssl pkcs8 -topk8 -nocrypt -in"
              + " KEY -out NEW");
    }
    try {
      List<X509Certificate> chain =
          CertificateFactory.getInstance("X.509").generateCertificates(stream(certificate)).stream()
              .map(X509Certificate.class::cast)
              .toList();
      if (!chain.isEmpty() && !belongs(key, chain.get(0).getPublicKey())) {
        throw unusable(files, "the key does not belong to the certificate");
      }
      SslContextBuilder context =
          SslContextBuilder.forServer(stream(certificate), stream(key))
              .sslProvider(SslProvider.JDK)
              .protocols("TLSv1.3", "TLSv1.2");
      Path authorities = files.clientAuthorities();
      if (authorities != null) {
        context
            .trustManager(authorities(authorities))
            .clientAuth(files.clientsMayLackOne() ? ClientAuth.OPTIONAL : ClientAuth.REQUIRE);
      }
      return new Certificates(
          new Contexts(context, authorities != null),
          chain.stream()
              .map(each -> each.getNotBefore().toInstant())
              .max(naturalOrder())
              .orElse(Instant.MIN),
          chain.stream()
              .map(each -> each.getNotAfter().toInstant())
              .min(naturalOrder())
              .orElse(Instant.MAX));
    } catch (IllegalArgumentException | CertificateException | SSLException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      throw unusable(files, "cannot be used as certificate and key: " + cause.getMessage());
    }
  }

  private static X509Certificate[] authorities(Path file) throws IOException {
    String pem = requirePem(file, "-----BEGIN CERTIFICATE-----", "a PEM certificate");
    try {
      return CertificateFactory.getInstance("X.509").generateCertificates(stream(pem)).stream()
          .map(X509Certificate.class::cast)
          .toArray(X509Certificate[]::new);
    } catch (CertificateException e) {
      throw new FileSystemException(
          file.toString(), null, "cannot be used as certificates: " + e.getMessage());
    }
  }

  private static FileSystemException unusable(Credentials.TlsFiles files, String why) {
    return new FileSystemException(files.certificate().toString(), files.key().toString(), why);
  }

  /**
   * Whether a private key belongs to a certificate's public key. The JDK does not check, and every
   * handshake would fail.
   */
  private static boolean belongs(String key, PublicKey known) {
    String signature = SIGNATURES.get(known.getAlgorithm());
    if (signature == null) {
      return true;
    }
    int begin = key.indexOf(KEY_HEADER) + KEY_HEADER.length();
    int end = key.indexOf("-----END", begin);
    try {
      byte[] encoded = Base64.getMimeDecoder().decode(key.substring(begin, Math.max(begin, end)));
      KeyFactory keys = KeyFactory.getInstance(known.getAlgorithm());
      Signature signing = Signature.getInstance(signature);
      signing.initSign(keys.generatePrivate(new PKCS8EncodedKeySpec(encoded)));
      byte[] signed = signing.sign();
      signing.initVerify(known);
      return signing.verify(signed);
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      return false; // a key of another algorithm, or no key
    }
  }

  private static InputStream stream(String text) {
    return new ByteArrayInputStream(text.getBytes(ISO_8859_1));
  }

  private static String requirePem(Path file, String mark, String what) throws IOException {
    String text = new String(SmallFile.read(file, what), ISO_8859_1);
    if (!text.contains(mark)) {
      throw new FileSystemException(file.toString(), null, "holds no " + what.substring(2));
    }
    return text;
  }
}
