// What all codecs of embeddings share: the request as routing sees it, its texts, and what of it an upstream of another
// protocol cannot be told. Knows no body.
import type { CanonicalRequest, EmbeddingNote, EmbeddingsRequest, Report } from '../canonical/index.ts';
import { GatewayError } from '../canonical/index.ts';

/** What routing needs to know of a request for embeddings: it has no items. */
export function embeddingTask(
  said: Pick<CanonicalRequest, 'protocol' | 'raw' | 'model' | 'gateway' | 'report' | 'endUser'>,
): CanonicalRequest {
  return { ...said, task: 'embedding', items: [], tools: [], reasoning: {}, stream: false, extra: {} };
}

/** What an upstream has a place for besides texts. */
export interface NotePlaces {
  readonly purpose?: boolean;
  readonly titles?: boolean;
}

/**
 * Refuses inputs that hold something else than text, and reports what is said of them where there is no place for it.
 * A loss that many inputs share is told of the first.
 * @throws GatewayError `unsupported` that names the part
 */
export function tellNotes(
  { notes, purpose }: EmbeddingsRequest,
  model: string,
  report: Report,
  places: NotePlaces = {},
): void {
  const [first] = notes ?? [];
  if (!notes || !first) return;
  for (const { foreign } of notes)
    if (foreign !== undefined)
      throw new GatewayError('unsupported', `${foreign}: ${model} makes vectors of texts only`, {
        param: foreign,
      });
  const joined = notes.find(({ isJoined }) => isJoined);
  if (joined)
    report.add(`${joined.path}content.parts`, 'approximated', 'made one text, with line breaks between');
  if (purpose !== undefined && !places.purpose)
    report.add(`${first.path}taskType`, 'dropped', 'the upstream has no place for it');
  const titled = notes.find(({ title }) => title !== undefined);
  if (titled && !places.titles)
    report.add(`${titled.path}title`, 'dropped', 'the upstream has no place for it');
  dropExtra(notes, report);
}

/** The inputs, where all are texts. Throws GatewayError `unsupported` for tokens. */
export function textsOf({ inputs }: EmbeddingsRequest, model: string): readonly string[] {
  return inputs.map((input) => {
    if (typeof input === 'string') return input;
    throw new GatewayError('unsupported', `input: ${model} takes texts only, no tokens`, { param: 'input' });
  });
}

function dropExtra(notes: readonly EmbeddingNote[], report: Report): void {
  const told = new Set<string>();
  for (const { path, extra } of notes) {
    for (const name in extra) {
      if (told.has(name)) continue;
      told.add(name);
      report.add(path + name, 'dropped', 'only the Gemini protocol has it');
    }
  }
}
