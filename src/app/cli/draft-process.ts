// Program that checks one draft of a configuration: a `DraftTask` as JSON on file descriptor 0, a `DraftAnswer` on 1. Runs
// in a process of its own; `compose/try-draft.ts` starts it and bounds its time and memory.
import { readFileSync, writeFileSync } from 'node:fs';
import { checkDraft, readKnownPrices, type DraftQuestion } from '../config/index.ts';
import { MODALITIES } from '../../engine/index.ts';
import { presets } from '../../catalog/providers/index.ts';
import { checkTemplate } from '../../server/check-template.ts';
import { simBuiltIn } from './commands/sim-server.ts';

export interface DraftTask {
  readonly question: DraftQuestion;
  /** Folder that the gateway runs in, from which relative paths lead. */
  readonly cwd: string;
  /** Data directory and source of newer prices of the configuration in force. */
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
