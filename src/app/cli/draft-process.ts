// Program that checks one draft of a configuration: a `DraftTask` as JSON on file descriptor 0, a `DraftAnswer` on 1.
// `compose/try-draft.ts` runs it in a separate process with limits on time and memory.
import { readFileSync, writeFileSync } from 'node:fs';
import { checkDraft, readKnownPrices, type DraftQuestion } from '../config/index.ts';
import { MODALITIES } from '../../engine/index.ts';
import { presets } from '../../catalog/providers/index.ts';
import { checkTemplate } from '../../server/check-template.ts';
import { simBuiltIn } from './commands/sim-server.ts';

export interface DraftTask {
  readonly question: DraftQuestion;
  /** Working directory of the gateway, for relative paths. */
  readonly cwd: string;
  /** Data directory and price source of the configuration in force. */
  readonly dataDir: string;
  readonly refresh: string | null;
}

const { question, cwd, dataDir, refresh } = JSON.parse(readFileSync(0, 'utf8')) as DraftTask;
process.chdir(cwd);
const answer = checkDraft(question, {
  presets,
  sim: simBuiltIn('http://127.0.0.1:0'),
  modalities: MODALITIES,
  prices: readKnownPrices(dataDir, refresh).book,
  checkTemplate,
});
writeFileSync(1, JSON.stringify(answer));
