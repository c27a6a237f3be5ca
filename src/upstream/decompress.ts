// Answers are asked for uncompressed; some servers compress all the same. Undone as it streams; how much may come
// out is the reader's business.
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';

export interface ByteSink {
  data(bytes: string): void;
  end(): void;
}

/** A sink that can be told to forget what it still holds: a few bytes may stand for gigabytes. */
export interface Decompressor extends ByteSink {
  stop(): void;
}

const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
  ['zstd', createZstdDecompress],
]);

/**
 * A sink that decodes `content-encoding` before passing bytes on.
 * @param coding the header's value
 * @param failed called when the coding is unknown or the data are damaged
 */
export function decompressing(
  coding: string,
  next: ByteSink,
  failed: (message: string) => void,
): Decompressor {
  const create = DECODERS.get(coding.toLowerCase().trim());
  if (!create) {
    const refuse = (): void => failed(`unknown content-encoding ${coding}`);
    return { data: refuse, end: refuse, stop: () => {} };
  }
  const stream = create();
  stream.on('data', (bytes: Buffer) => next.data(bytes.toString('latin1')));
  stream.on('end', () => next.end());
  stream.on('error', () => failed(`the upstream's ${coding} data are damaged`));
  return {
    data: (bytes) => void stream.write(Buffer.from(bytes, 'latin1')),
    end: () => void stream.end(),
    stop: () => void stream.destroy(),
  };
}
