// Checks a draft as a whole. Owns what becomes of problems that are about references: their values are not looked at, so
// nothing is said of them. Runs in a process of its own; see `app/cli/draft-process.ts`.
import { ConfigError } from './config-error.ts';
import { Draft, type DraftBounds } from './draft.ts';
import { loadConfig, type LoadInput } from './load.ts';
import { buildSnapshot, type SnapshotInput } from './snapshot.ts';

export interface DraftQuestion extends DraftBounds, Pick<LoadInput, 'environment' | 'flags'> {
  readonly text: string;
}

export interface DraftAnswer {
  /** Problems, each with the path of its key in front. */
  readonly problems: readonly string[];
  /** Paths of keys whose values come from variables or files, and were not checked. */
  readonly unchecked: readonly string[];
}

/** Rounds after which references are left as they are: each takes up to a tenth of a second. */
const MOST_ROUNDS = 40;

/** @param parts what the catalog is built with, besides the draft */
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
