// Bytes by name in a bucket. Each is written to a folder of this machine first and sent when it is complete, so that the
// bucket never holds half of something, nobody's memory holds a whole file, and what a crash leaves behind is found here
// without asking the bucket, which others may share. Knows nothing of who owns the bytes.
import { GatewayError } from '../canonical/index.ts';
import { S3Failure, type S3Bucket } from '../base/runtime/s3.ts';
import type { BlobFolder } from './blob-folder.ts';
import type { BlobDraft, BlobStore } from '../accounts/ports/index.ts';
import type { DurationMs, UnixMs } from '../base/units.ts';

export interface S3BlobsOptions {
  readonly bucket: S3Bucket;
  /** Prefix of every name. */
  readonly prefix: string;
  /** Folder of drafts, and of names whose objects are still to be deleted. */
  readonly folder: BlobFolder;
  /** Time that one file may take to be sent, and any other step. */
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
          // It may have arrived all the same, or still arrive.
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
        // One that is only late would hold its connection for ever.
        void reader.cancel().catch(() => {});
        throw error;
      }
    };
    // Whether there is such an object is known with its first piece.
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
      // An object that nobody can name may go some day.
      await this.#note(name);
    }
  }

  async sweep(beforeMs: UnixMs, isKept: (name: string) => Promise<boolean>): Promise<void> {
    await this.#folder.sweep(beforeMs, async (name) => {
      if (await isKept(name)) return false;
      // The note stays until the object is gone.
      return within(this.#stepMs, this.#bucket.delete(this.#prefix + name)).then(
        () => false,
        () => true,
      );
    });
  }

  /** An empty file of its name says that an object is to be deleted: `sweep` does. */
  async #note(name: string): Promise<void> {
    await (await this.#folder.draft()).keep(name);
  }
}

function unavailable(cause: unknown): GatewayError {
  const code = cause instanceof S3Failure ? cause.code : 'timeout';
  return new GatewayError(
    'upstream_unavailable',
    `the store of files does not answer as it should: ${code}`,
    {
      code: 'file_store_unavailable',
      fault: 'gateway',
      cause,
    },
  );
}

class Overdue extends Error {}

/** The runtime's client waits for ever. */
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
