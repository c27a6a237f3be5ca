// Objects in a bucket that speaks S3. The only file that knows how this runtime does it; what the objects are for, and for
// how long anybody waits, is decided by those who use it.

export interface S3Target {
  /** Address without a bucket: the bucket stands in the path, which every compatible store understands. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Failure of a store, in its own word where it has one: `AccessDenied`, `NoSuchBucket`, `ConnectionRefused`. */
export class S3Failure extends Error {
  readonly code: string;

  constructor(cause: unknown) {
    const { code } = cause instanceof Error && 'code' in cause ? cause : { code: undefined };
    super('the object store failed', { cause });
    this.name = 'S3Failure';
    this.code = typeof code === 'string' && /^\w{1,60}$/.test(code) ? code : 'unknown';
  }
}

/** Every method throws S3Failure. */
export interface S3Bucket {
  /** Sends a file of this machine, piece by piece; there is no object before all of it was sent. */
  put(key: string, path: string): Promise<void>;
  /** Whole; null when there is none. */
  get(key: string): Promise<Uint8Array | null>;
  /** Piece by piece; fails with its first piece when there is none. */
  stream(key: string): ReadableStream<Uint8Array>;
  /** Nothing happens when there is none. */
  delete(key: string): Promise<void>;
}

/** A bucket. Nothing is sent before it is used. */
export function openBucket(target: S3Target): S3Bucket {
  // An empty token: the runtime would else take one of the environment, which belongs to other keys.
  const client = new Bun.S3Client({ ...target, sessionToken: '' });
  return {
    async put(key, path) {
      // Files get a type that no browser runs: a bucket may be public.
      await client.write(key, Bun.file(path), { type: 'application/octet-stream' }).catch(failed);
    },
    get: (key) => client.file(key).bytes().catch(orMissing),
    stream: (key) => client.file(key).stream(),
    async delete(key) {
      await client.delete(key).catch(orMissing);
    },
  };
}

function failed(error: unknown): never {
  throw new S3Failure(error);
}

function orMissing(error: unknown): null {
  const failure = new S3Failure(error);
  if (failure.code === 'NoSuchKey') return null;
  throw failure;
}
