import { createClient } from "redis";

const url = process.env.BSDB_URL ?? "redis://localhost:6379"; // redis://:TOKEN@host:port with --token-file
const client = await createClient({ url }).connect();
console.log(await client.get("apple"));
console.log(await client.mGet(["apple", "plum"])); // null for an absent key
let count = 0;
for await (const keys of client.scanIterator({ COUNT: 1000 })) count += keys.length;
console.log(count, "keys");
client.destroy();
