<?php
// Scans all keys with php-redis, which keeps cursors in signed numbers: in the order of the files, and of the keys.
$lines = file(getenv('BSDB_FOLDER') . '/records.txt', FILE_IGNORE_NEW_LINES);
$keys = array_map(fn($line) => explode(' ', $line, 2)[0], $lines);
foreach (['BSDB_PORT', 'BSDB_ORDERED_PORT'] as $port) {
    $redis = new Redis();
    $redis->connect('127.0.0.1', (int) getenv($port));
    $redis->auth(getenv('BSDB_TOKEN'));
    $redis->setOption(Redis::OPT_SCAN, Redis::SCAN_RETRY);
    foreach (['*', 'key-*'] as $pattern) {
        $expected = array_filter($keys, fn($key) => $pattern === '*' || str_starts_with($key, 'key-'));
        $scanned = [];
        $cursor = null;
        while (($some = $redis->scan($cursor, $pattern, 1000)) !== false) {
            array_push($scanned, ...$some);
        }
        sort($expected);
        sort($scanned);
        if ($expected !== $scanned) {
            fwrite(STDERR, "php-redis: $pattern: " . count($scanned) . ' keys, not ' . count($expected) . "\n");
            exit(1);
        }
    }
}
echo 'ok  php-redis ', phpversion('redis'), ': SCAN of ', number_format(count($keys)), " keys, in both orders\n";
