// Lines of a batch's input file. A file whose record exists is read again later, because its storage may be unavailable. A
// file whose record was deleted never comes back.
import { GatewayError } from '../../canonical/index.ts';
import type { DurationMs } from '../../base/units.ts';
import type { BatchRun } from './batch-run.ts';
import { type FileLine, readLines } from './read-lines.ts';

/** Milliseconds for which a batch and its input file are kept after its deadline. The file is kept longer if it runs longer. */
export const INPUT_KEPT_MS: DurationMs = 86_400_000;

/** Failure of a batch whose input file cannot be read. */
export class LostInput extends GatewayError {
  /** True: it never can be read again. */
  readonly isGone: boolean;

  constructor(isGone: boolean, message: string, cause?: unknown) {
    super(isGone ? 'not_found' : 'internal', message, { code: 'input_file_lost', cause });
    this.isGone = isGone;
  }
}

/** Reads the lines from the first one. Throws LostInput, also part-way. */
export async function* inputLines(of: BatchRun): AsyncGenerator<FileLine, void, undefined> {
  const { batch, deps } = of;
  const { files, clock } = deps;
  const { inputFile: id } = batch;
  const file = await files.find(batch.projectId, id);
  if (!file)
    throw new LostInput(true, `The input file '${id}' was deleted. Upload it again and start a new batch.`);
  const now = clock.wall();
  // A batch can end long after its deadline, e.g. when there is no space for its results.
  if (file.expiresAt !== null && file.expiresAt < now + INPUT_KEPT_MS)
    await files.keepUntil(file, now + 2 * INPUT_KEPT_MS);
  try {
    const stream = await files.stream(file);
    if (!stream) throw new GatewayError('internal', 'its content does not exist.');
    yield* readLines(stream, deps.settings().maxLineBytes);
  } catch (error) {
    const cause = GatewayError.is(error) ? `: ${error.message}` : '.';
    throw new LostInput(false, `The input file '${id}' cannot be read${cause}`, error);
  }
}
