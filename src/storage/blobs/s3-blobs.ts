// Blobs in an S3 bucket. Each is written to a local folder first and uploaded when complete. So the bucket never holds
// partial objects, and files are never in memory as a whole. Remains of a crash are found locally, without listing the
// bucket, which others may share.
import { GatewayError } from '../../canonical/index.ts';
import { S3Failure, type S3Bucket } from '../../base/runtime/s3.ts';
import type { BlobFolder } from './blob-folder.ts';
import type { BlobDraft, BlobStore } from '../../accounts/ports/index.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

export interface S3BlobsOptions {
  readonly bucket: S3Bucket;
  /** Prefix of object names. */
  readonly prefix: string;
  /** Folder of drafts, and of markers for objects that still have to be deleted. */
  readonly folder: BlobFolder;
  /** Maximum time of an upload or a full read, and of any other step. */
  readonly sendMs?: DurationMs;
  readonly stepMs?: DurationMs;
}

export class S3Blobs implements BlobStore {
  readonly #bucket: S3Bucket;
  readonly #prefix: string;
  readonly #folder: BlobFolder;
  readonly #sendMs: DurationMs;
  readonly #stepMs: DurationMs;

  constructor({ bucket, prefix, folder, sendMs = 600_000, stepMs = 30_000 }: S3BlobsOptions) {
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.#folder = folder;
    this.#sendMs = sendMs;
    this.#stepMs = stepMs;
  }

  async draft(): Promise<BlobDraft> {
    const draft = await this.#folder.draft();
    return {
      write: (bytes) => draft.write(bytes),
      discard: () => draft.discard(),
      keep: async (name) => {
        await draft.keep(name);
        try {
          await within(this.#sendMs, this.#bucket.put(this.#prefix + name, this.#folder.pathOf(name)));
        } catch (error) {
          // The object may exist anyway, or appear later.
          await this.#note(name);
          throw unavailable(error);
        }
        await this.#folder.delete(name);
      },
    };
  }

  async read(name: string): Promise<Uint8Array | null> {
    return within(this.#sendMs, this.#bucket.get(this.#prefix + name)).catch((error: unknown) => {
      throw unavailable(error);
    });
  }

  async stream(name: string): Promise<ReadableStream<Uint8Array> | null> {
    const reader = this.#bucket.stream(this.#prefix + name).getReader();
    const read = async (): ReturnType<typeof reader.read> => {
      try {
        return await within(this.#stepMs, reader.read());
      } catch (error) {
        // Otherwise a late response would hold its connection forever.
        void reader.cancel().catch(() => {});
        throw error;
      }
    };
    // The first chunk tells whether the object exists.
    let next = await read().catch((error: unknown) => {
      const failure = error instanceof Overdue ? error : new S3Failure(error);
      if (failure instanceof S3Failure && failure.code === 'NoSuchKey') return null;
      throw unavailable(failure);
    });
    if (!next) return null;
    return new ReadableStream({
      pull: async (controller) => {
        const { done, value } = next ?? (await read());
        next = null;
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => reader.cancel(),
    });
  }

  async delete(name: string): Promise<void> {
    try {
      await within(this.#stepMs, this.#bucket.delete(this.#prefix + name));
    } catch {
      // Deleted later by `sweep`. No name refers to it any more.
      await this.#note(name);
    }
  }

  async sweep(beforeMs: UnixMs, isKept: (name: string) => Promise<boolean>): Promise<void> {
    await this.#folder.sweep(beforeMs, async (name) => {
      if (await isKept(name)) return false;
      // The marker is kept until the object is deleted.
      return within(this.#stepMs, this.#bucket.delete(this.#prefix + name)).then(
        () => false,
        () => true,
      );
    });
  }

  /** Marks an object for deletion by `sweep`, with an empty file of its name. */
  async #note(name: string): Promise<void> {
    await (await this.#folder.draft()).keep(name);
  }
}

function unavailable(cause: unknown): GatewayError {
  const code = cause instanceof S3Failure ? cause.code : 'timeout';
  return new GatewayError('upstream_unavailable', `The file store is unavailable: ${code}.`, {
    code: 'file_store_unavailable',
    fault: 'gateway',
    cause,
  });
}

class Overdue extends Error {}

/** Limits the time of an operation, because the runtime's S3 client has no timeout. */
async function within<T>(ms: DurationMs, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    return await Promise.race([
      work,
      new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Overdue()), ms);
      }),
    ]);
  } finally {
    clearTimeout(timer);
  }
}
