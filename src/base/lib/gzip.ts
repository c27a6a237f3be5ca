// Compression of stored answers. Large ones are compressed in another thread: the events of a response of 1 MB take 25 ms,
// and those of 10 MB 240 ms, during which no other request would continue.
import { gunzip, gunzipSync, gzip, gzipSync } from 'node:zlib';
import { promisify } from 'node:util';

/** Maximum bytes that are compressed or decompressed in this thread, which takes about 3 ms. */
const MOST_TO_COMPRESS = 128 * 1024;
const MOST_TO_DECOMPRESS = 16 * 1024;

const gzipInThread = promisify<Uint8Array, { level: number }, Uint8Array>(gzip);
const gunzipInThread = promisify<Uint8Array, Uint8Array>(gunzip);

/** @param level from 1, fast, to 9, small */
export async function compress(bytes: Uint8Array, level = 6): Promise<Uint8Array> {
  return bytes.length <= MOST_TO_COMPRESS ? gzipSync(bytes, { level }) : gzipInThread(bytes, { level });
}

/** @throws Error for bytes that are not gzip */
export async function decompress(bytes: Uint8Array): Promise<Buffer> {
  const found = bytes.length <= MOST_TO_DECOMPRESS ? gunzipSync(bytes) : await gunzipInThread(bytes);
  return Buffer.from(found.buffer, found.byteOffset, found.byteLength);
}
