// Writes the result files of a finished batch in input order, including lines without a result. Writing them again
// produces the same files.
import { createHash } from 'node:crypto';
import type { JsonObject } from '../../base/json/index.ts';
import type { UnansweredEnd } from '../../protocols/index.ts';
import { expiryOf } from '../settings.ts';
import type { Upload } from '../state/files.ts';
import type { BatchRun } from './batch-run.ts';
import { LOST } from '../jobs/index.ts';
import { EndedLines } from './ended-lines.ts';
import { decodeEnd, kindOf } from './line-result.ts';
import { parseLine } from './line-request.ts';
import { readLines } from './read-lines.ts';

/** Purpose of result files. */
const OUTPUT_PURPOSE = 'batch_output';
/** Bytes per write. */
const WRITTEN = 256 * 1024;

export interface Results {
  readonly outputFile: string | null;
  readonly errorFile: string | null;
  /** Number of lines without a result. */
  readonly rest: number;
}

/**
 * @param rest how lines without a result end
 * @throws GatewayError `quota` when the project's storage limit is exceeded; the files are written later
 */
export async function writeResults(
  of: BatchRun,
  stream: ReadableStream<Uint8Array>,
  rest: UnansweredEnd,
): Promise<Results> {
  const { batch, codec, deps } = of;
  const results = EndedLines.results(deps.storage.batches, batch.id);
  const output = new ResultFile(of, 'output');
  const errors = codec.splitsErrors ? new ResultFile(of, 'error') : output;
  let others = 0;
  try {
    for await (const { number, bytes } of readLines(stream, deps.settings().maxLineBytes)) {
      if (of.isLost) throw LOST;
      const found = await results.at(number);
      if (!found) others += 1;
      const end = found ? decodeEnd(found.result) : rest;
      const file = kindOf(end) === 'succeeded' ? output : errors;
      await file.write(codec.encodeResult(bytes && readLine(bytes), number, batch.id, end));
    }
    return {
      outputFile: await output.keep(),
      errorFile: errors === output ? null : await errors.keep(),
      rest: others,
    };
  } finally {
    await output.discard();
    await errors.discard();
  }
}

function readLine(bytes: Buffer): JsonObject | null {
  try {
    return parseLine(bytes);
  } catch {
    return null;
  }
}

class ResultFile {
  readonly #of: BatchRun;
  readonly #kind: 'output' | 'error';
  #upload: Upload | undefined;
  #text = '';

  constructor(of: BatchRun, kind: 'output' | 'error') {
    this.#of = of;
    this.#kind = kind;
  }

  async write(line: string): Promise<void> {
    this.#text += `${line}\n`;
    if (this.#text.length >= WRITTEN) await this.#flush();
  }

  /** @returns the file's id; null: nothing was written */
  async keep(): Promise<string | null> {
    const { batch, deps, facts } = this.#of;
    await this.#flush();
    const upload = this.#upload;
    if (!upload) return null;
    const hash = createHash('sha256').update(`${batch.id}:${this.#kind}`).digest('hex');
    const id = `file-${hash.slice(0, 24)}`;
    // An earlier process died after it stored the file.
    if (await deps.files.find(batch.projectId, id)) return id;
    this.#upload = undefined;
    const createdAt = deps.clock.wall();
    const seconds = facts['output_expires_s'];
    const expiresAt = expiryOf(deps.engine.settings(), createdAt);
    await upload.keep({
      id,
      projectId: batch.projectId,
      createdAt,
      purpose: OUTPUT_PURPOSE,
      filename: `${batch.id}_${this.#kind}.jsonl`,
      mediaType: 'application/jsonl',
      expiresAt: typeof seconds === 'number' ? createdAt + seconds * 1000 : expiresAt,
    });
    return id;
  }

  async discard(): Promise<void> {
    const upload = this.#upload;
    this.#upload = undefined;
    await upload?.discard();
  }

  async #flush(): Promise<void> {
    if (this.#text === '') return;
    const bytes = Buffer.from(this.#text);
    this.#text = '';
    this.#upload ??= await this.#of.deps.files.upload(Infinity);
    await this.#upload.write(bytes);
  }
}
