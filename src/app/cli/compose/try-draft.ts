// Checks drafts of the configuration in separate processes with limits, so that an expensive draft delays no other
// work.
import { TEXTS } from '../../../canonical/index.ts';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config, DraftAnswer, LoadedConfig } from '../../config/index.ts';
import { Turns } from '../../../engine/documents/turns.ts';
import { runProgram, type ProgramEnd } from '../../../base/runtime/subprocess.ts';
import type { DraftTask } from '../draft-process.ts';

const PROGRAM = fileURLToPath(new URL('../draft-process.ts', import.meta.url));
const TIMEOUT_MS = 15_000;
const MAX_MEMORY_BYTES = 512 * 1_048_576;
const MAX_OUTPUT_BYTES = 4 * 1_048_576;
/** Folder in which container platforms mount secrets. */
const MOUNTED = '/run/secrets';

const turns = new Turns(1, 8, 'configurations are queued to be checked');

/**
 * Checks the text of a configuration file. Exceeding the limits on time or memory is a problem of the draft.
 * @param loaded the configuration in force
 * @throws GatewayError `rate_limited` when too many are queued, `cancelled`
 */
export async function tryDraft(
  text: string,
  { from, named, path }: Pick<LoadedConfig, 'from' | 'named' | 'path'>,
  { server, dataDir, catalog }: Config,
  signal: AbortSignal,
): Promise<DraftAnswer> {
  const own = path === null ? process.cwd() : dirname(resolve(path));
  const task: DraftTask = {
    question: { ...from, text, named, folders: server.credentialDirs ?? [own, MOUNTED] },
    cwd: process.cwd(),
    dataDir,
    refresh: catalog.refresh,
  };
  const end = await turns.run(signal, () =>
    runProgram({
      file: PROGRAM,
      input: Buffer.from(JSON.stringify(task)),
      timeoutMs: TIMEOUT_MS,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      maxMemoryBytes: MAX_MEMORY_BYTES,
      signal,
    }),
  );
  if (end.type === 'answer') return JSON.parse(new TextDecoder().decode(end.output)) as DraftAnswer;
  return { problems: [`the configuration cannot be checked: ${REASONS[end.type]}`], unchecked: [] };
}

const REASONS: Readonly<Record<Exclude<ProgramEnd['type'], 'answer'>, string>> = {
  timeout: TEXTS.checkTooSlow(TIMEOUT_MS / 1000),
  memory: `the check needs more than ${MAX_MEMORY_BYTES / 1_048_576} MB of memory`,
  output: 'it has too many problems',
  failed: 'the check failed',
};
