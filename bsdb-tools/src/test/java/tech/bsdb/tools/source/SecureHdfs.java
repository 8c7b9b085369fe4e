package tech.bsdb.tools.source;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.minikdc.MiniKdc;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.kerby.kerberos.kerb.client.KrbClient;

/**
 * A process that is an HDFS with Kerberos, its traffic encrypted. The first argument is a folder:
 * what is in its {@code data} is uploaded to {@code /data}, which belongs to {@code etl}; {@code
 * krb5.conf}, {@code etl.keytab}, {@code bob.keytab}, the ticket {@code etl.ticket} and the
 * client's configuration {@code conf} are written. It says {@code ready} and ends with its standard
 * input.
 */
final class SecureHdfs {
  private static final String SERVER = "hdfs/localhost@EXAMPLE.COM";
  private static final String WEB = "HTTP/localhost@EXAMPLE.COM";

  private SecureHdfs() {}

  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]);
    Path keytab = folder.resolve("server.keytab");
    startKdc(folder, keytab);
    Configuration configuration = server(keytab);
    UserGroupInformation.setConfiguration(configuration);
    UserGroupInformation.loginUserFromKeytab(SERVER, keytab.toString());
    MiniDFSCluster cluster =
        new MiniDFSCluster.Builder(configuration, folder.resolve("hdfs").toFile())
            .numDataNodes(1)
            .build();
    upload(cluster.getFileSystem(), folder.resolve("data"));
    write(folder.resolve("conf/core-site.xml"), client(cluster, configuration));
    System.out.println("ready");
    while (System.in.read() >= 0) {
      // until whoever began us ends
    }
    Runtime.getRuntime().halt(0);
  }

  private static void startKdc(Path folder, Path keytab) throws Exception {
    MiniKdc kdc =
        new MiniKdc(MiniKdc.createConf(), Files.createDirectory(folder.resolve("kdc")).toFile());
    kdc.start();
    kdc.createPrincipal(keytab.toFile(), "hdfs/localhost", "HTTP/localhost");
    kdc.createPrincipal(folder.resolve("bob.keytab").toFile(), "bob");
    File etl = folder.resolve("etl.keytab").toFile();
    kdc.createPrincipal(etl, "etl");
    Files.copy(kdc.getKrb5conf().toPath(), folder.resolve("krb5.conf"));

    KrbClient client = new KrbClient();
    client.setKdcRealm(kdc.getRealm());
    client.setKdcHost("localhost");
    client.setKdcTcpPort(kdc.getPort());
    client.setAllowUdp(false);
    client.init();
    client.storeTicket(
        client.requestTgt("etl@" + kdc.getRealm(), etl), folder.resolve("etl.ticket").toFile());
  }

  private static Configuration server(Path keytab) {
    Configuration configuration = new HdfsConfiguration();
    configuration.set("hadoop.security.authentication", "kerberos");
    configuration.set("hadoop.rpc.protection", "privacy");
    configuration.set("dfs.data.transfer.protection", "privacy");
    configuration.set("dfs.block.access.token.enable", "true");
    configuration.set("ignore.secure.ports.for.testing", "true");
    configuration.set("dfs.namenode.kerberos.principal", SERVER);
    configuration.set("dfs.namenode.keytab.file", keytab.toString());
    configuration.set("dfs.datanode.kerberos.principal", SERVER);
    configuration.set("dfs.datanode.keytab.file", keytab.toString());
    configuration.set("dfs.web.authentication.kerberos.principal", WEB);
    configuration.set("dfs.web.authentication.kerberos.keytab", keytab.toString());
    return configuration;
  }

  private static void upload(FileSystem fileSystem, Path data) throws IOException {
    org.apache.hadoop.fs.Path there = new org.apache.hadoop.fs.Path("/data");
    fileSystem.copyFromLocalFile(new org.apache.hadoop.fs.Path(data.toString()), there);
    try (OutputStream out = fileSystem.create(new org.apache.hadoop.fs.Path("/secret/file"))) {
      out.write(1);
    }
    fileSystem.setOwner(there, "etl", "etl");
    fileSystem.setPermission(there, new FsPermission((short) 0700));
    fileSystem.setPermission(there.suffix("/../secret"), new FsPermission((short) 0700));
  }

  private static Map<String, String> client(MiniDFSCluster cluster, Configuration server) {
    Map<String, String> settings = new TreeMap<>();
    for (String shared :
        new String[] {
          "hadoop.security.authentication",
          "hadoop.rpc.protection",
          "dfs.data.transfer.protection",
          "dfs.namenode.kerberos.principal"
        }) {
      settings.put(shared, server.get(shared));
    }
    settings.put("fs.defaultFS", "hdfs://localhost:" + cluster.getNameNodePort());
    return settings;
  }

  private static void write(Path file, Map<String, String> settings) throws IOException {
    StringBuilder xml = new StringBuilder("<configuration>\n");
    settings.forEach(
        (name, value) ->
            xml.append("  <property><name>" + name + "</name><value>" + value + "</value>")
                .append("</property>\n"));
    Files.createDirectories(file.getParent());
    Files.write(file, xml.append("</configuration>\n").toString().getBytes(StandardCharsets.UTF_8));
  }
}
