// Reads everything back with node-redis, in RESP2 and RESP3.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createClient } from "redis";

const env = process.env;
const BATCH = 1000;
const lines = (name) => readFileSync(`${env.BSDB_FOLDER}/${name}`, "utf8").trimEnd().split("\n");
const records = new Map(lines("records.txt").map((line) => {
  const space = line.indexOf(" ");
  return [line.slice(0, space), line.slice(space + 1)];
}));
const rows = lines("rows.tsv").map((line) => {
  const [key, ...words] = line.split("\t");
  const row = {};
  for (let i = 0; i < words.length; i += 2) row[words[i]] = words[i + 1];
  return [key, row];
});
const keys = [...records.keys()];

const connect = (port, RESP, password = env.BSDB_TOKEN) =>
  createClient({ socket: { port: Number(port), reconnectStrategy: false }, password, RESP })
    .on("error", () => {})
    .connect();

for (const RESP of [2, 3]) {
  await assert.rejects(connect(env.BSDB_PORT, RESP, "wrong"), /WRONGPASS/);
  const client = await connect(env.BSDB_PORT, RESP);
  assert.equal(await client.ping(), "PONG");
  for (let start = 0; start < keys.length; start += BATCH) {
    const some = keys.slice(start, start + BATCH);
    const expected = some.map((key) => records.get(key));
    assert.deepEqual(await client.mGet(some), expected);
    assert.deepEqual(await Promise.all(some.map((key) => client.get(key))), expected); // pipelined
  }
  assert.equal(await client.get("absent"), null);
  assert.equal(await client.exists(["apple", "absent"]), 1);
  assert.equal(await client.dbSize(), keys.length);
  const scanned = [];
  for await (const some of client.scanIterator({ COUNT: BATCH })) scanned.push(...some);
  assert.deepEqual(scanned.sort(), [...keys].sort());
  await assert.rejects(client.set("apple", "x"), /^(Simple)?Error: READONLY|READONLY/);
  client.destroy();

  const hashes = await connect(env.BSDB_ROWS_PORT, RESP);
  for (const [key, row] of rows) assert.deepEqual({ ...(await hashes.hGetAll(key)) }, row);
  const [key, row] = rows[0];
  assert.equal(await hashes.hGet(key, "name"), row.name);
  assert.deepEqual(await hashes.hmGet(key, ["name", "colour"]), [row.name, null]);
  assert.equal(await hashes.hLen(key), Object.keys(row).length);
  await assert.rejects(hashes.get(key), /WRONGTYPE/);
  await assert.rejects(hashes.hSet(key, "name", "x"), /READONLY/);
  hashes.destroy();
}
const { version } = createRequire(import.meta.url)("redis/package.json");
const count = (n) => n.toLocaleString("en-US");
console.log(`ok  node-redis ${version}: ${count(keys.length)} records, ${count(rows.length)} rows; MGET, pipelined; RESP2, RESP3`);
