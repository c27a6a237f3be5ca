// Checks a draft as a whole. Problems about references are ignored, because their values are not read. Runs in a
// separate process; see `app/cli/draft-process.ts`.
import { ConfigError } from './config-error.ts';
import { Draft, type DraftBounds } from './draft.ts';
import { loadConfig, type LoadInput } from './load.ts';
import { buildSnapshot, type SnapshotInput } from './snapshot.ts';

export interface DraftQuestion extends DraftBounds, Pick<LoadInput, 'environment' | 'flags'> {
  readonly text: string;
}

export interface DraftAnswer {
  /** Problems, each prefixed with the path of its key. */
  readonly problems: readonly string[];
  /** Paths of keys whose values come from variables or files and were not checked. */
  readonly unchecked: readonly string[];
}

/** Maximum rounds of stand-in values; each takes up to a tenth of a second. */
const MOST_ROUNDS = 40;

/** @param parts inputs of the catalog in addition to the draft */
export function checkDraft(
  question: DraftQuestion,
  parts: Omit<SnapshotInput, 'config' | 'environment' | 'revision' | 'draft'>,
): DraftAnswer {
  const { text, environment, flags } = question;
  const draft = new Draft(text, question);
  for (let round = 0; ; round++) {
    const problems = problemsOf(() => {
      const { config } = loadConfig({ environment, flags, draft });
      buildSnapshot({ ...parts, config, environment, draft, revision: 0 });
    });
    const isJudged = (problem: string): boolean => draft.placeOf(problem) === undefined;
    const open = problems.flatMap((problem) => draft.placeOf(problem) ?? []);
    const goesOn = open.filter((place) => draft.tryNext(place)).length > 0 && round < MOST_ROUNDS;
    if (!goesOn) return { problems: problems.filter(isJudged), unchecked: draft.places };
  }
}

function problemsOf(attempt: () => void): readonly string[] {
  try {
    attempt();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
