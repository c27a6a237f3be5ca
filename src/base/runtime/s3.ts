// Objects in an S3 bucket. The only file that uses Bun's S3 client. Timeouts are up to the caller.

export interface S3Target {
  /** URL without the bucket. The bucket is part of the path, which every compatible store supports. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Failure of a store, with its error code if it has one: `AccessDenied`, `NoSuchBucket`, `ConnectionRefused`. */
export class S3Failure extends Error {
  readonly code: string;

  constructor(cause: unknown) {
    const { code } = cause instanceof Error && 'code' in cause ? cause : { code: undefined };
    super('the object store failed', { cause });
    this.name = 'S3Failure';
    this.code = typeof code === 'string' && /^\w{1,60}$/.test(code) ? code : 'unknown';
  }
}

/** All methods reject with S3Failure. */
export interface S3Bucket {
  /** Uploads a local file in pieces. The object exists only after all of them were sent. */
  put(key: string, path: string): Promise<void>;
  /** Reads a whole object; null if it does not exist. */
  get(key: string): Promise<Uint8Array | null>;
  /** Reads an object in pieces. The first read fails if it does not exist. */
  stream(key: string): ReadableStream<Uint8Array>;
  /** Does nothing if the object does not exist. */
  delete(key: string): Promise<void>;
}

/** Opens a bucket. Sends no request. */
export function openBucket(target: S3Target): S3Bucket {
  // An empty session token, because Bun would otherwise take one from the environment that belongs to other keys.
  const client = new Bun.S3Client({ ...target, sessionToken: '' });
  return {
    async put(key, path) {
      // A type that no browser executes, because the bucket may be public.
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
