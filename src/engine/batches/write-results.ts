// Writes the result files of a finished batch in input order, including lines without a result. Writing them again
// produces the same files.
import { createHash } from 'node:crypto';
import type { JsonObject } from '../../base/json/index.ts';
import type { Batch, EndedLine } from '../../accounts/ports/index.ts';
import type { LineEnd, UnansweredEnd } from '../../protocols/index.ts';
import { expiryOf } from '../settings.ts';
import type { Upload } from '../state/files.ts';
import { inputLines } from './batch-input.ts';
import type { BatchRun } from './batch-run.ts';
import { LOST } from '../jobs/index.ts';
import { EndedLines } from './ended-lines.ts';
import { decodeEnd, kindOf } from './line-result.ts';
import { namedLine } from './line-request.ts';

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

interface ResultLine {
  readonly number: number;
  /** The client's line, or only the members that its result repeats. Null: it cannot be read. */
  readonly line: JsonObject | null;
  /** Null: it has no result. */
  readonly end: LineEnd | null;
}

/**
 * @param rest how lines without a result end
 * @param withoutInput current state of a batch whose input file is lost
 * @throws GatewayError `quota` when the project's storage limit is exceeded; the files are written later
 */
export async function writeResults(
  of: BatchRun,
  rest: UnansweredEnd,
  withoutInput?: Batch,
): Promise<Results> {
  const { batch, codec } = of;
  const output = new ResultFile(of, 'output');
  const errors = codec.splitsErrors ? new ResultFile(of, 'error') : output;
  let others = 0;
  try {
    for await (const { number, line, end } of withoutInput ? endedLines(of) : allLines(of)) {
      if (of.isLost) throw LOST;
      if (!end) others += 1;
      const file = kindOf(end ?? rest) === 'succeeded' ? output : errors;
      await file.write(codec.encodeResult(line, number, batch.id, end ?? rest));
    }
    return {
      outputFile: await output.keep(),
      errorFile: errors === output ? null : await errors.keep(),
      rest: withoutInput ? restOf(of, withoutInput) : others,
    };
  } finally {
    await output.discard();
    await errors.discard();
  }
}

async function* allLines(of: BatchRun): AsyncGenerator<ResultLine, void, undefined> {
  const results = EndedLines.results(of.deps.storage.batches, of.batch.id);
  for await (const { number, bytes } of inputLines(of)) {
    const found = await results.at(number);
    const stored = found && (await decodeEnd(found.result));
    yield { number, line: bytes && namedLine(bytes, of.codec), end: stored && stored.end };
  }
}

/** Lines of a batch whose input file is lost: those that have ended, and the others if their numbers are known. */
async function* endedLines(of: BatchRun): AsyncGenerator<ResultLine, void, undefined> {
  const results = EndedLines.results(of.deps.storage.batches, of.batch.id);
  const { requests } = of;
  if (requests === null) {
    for (let found = await results.next(); found; found = await results.next()) yield await resultOf(found);
    return;
  }
  for (let number = 1; number <= requests; number += 1) {
    const found = await results.at(number);
    yield found ? await resultOf(found) : { number, line: null, end: null };
  }
}

async function resultOf({ number, result }: Pick<EndedLine, 'number' | 'result'>): Promise<ResultLine> {
  const { end, named } = await decodeEnd(result);
  return { number, line: named, end };
}

/** Number of lines without a result. */
function restOf({ requests }: BatchRun, { total, counts }: Batch): number {
  const ended = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return Math.max(0, (total ?? requests ?? 0) - ended);
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
