import os

import redis

url = os.environ.get("BSDB_URL", "redis://localhost:6379")  # redis://:TOKEN@host:port with --token-file
client = redis.Redis.from_url(url, decode_responses=True)
print(client.get("apple"))
print(client.mget("apple", "plum"))  # None for an absent key
print(sum(1 for key in client.scan_iter(count=1000)), "keys")
