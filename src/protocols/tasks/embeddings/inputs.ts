// Rules for inputs that all embeddings codecs share: texts only, and reports of what another protocol cannot express.
import { GatewayError, type Report, TEXTS } from '../../../canonical/index.ts';
import type { ElementType, EmbeddingNote, EmbeddingsRequest } from './model.ts';

/** Notes on inputs that an upstream can express in addition to text. */
export interface NotePlaces {
  readonly purpose?: boolean;
  readonly titles?: boolean;
}

/**
 * Refuses inputs that are not text, and reports notes that cannot be expressed. A loss that many inputs share is
 * reported once, for the first.
 * @throws GatewayError `unsupported` naming the part
 */
export function reportNotes(
  { notes, purpose }: EmbeddingsRequest,
  model: string,
  report: Report,
  places: NotePlaces = {},
): void {
  const [first] = notes ?? [];
  if (!notes || !first) return;
  for (const { foreign } of notes)
    if (foreign !== undefined)
      throw new GatewayError('unsupported', `${foreign}: ${model} supports only text inputs`, {
        param: foreign,
      });
  const joined = notes.find(({ isJoined }) => isJoined);
  if (joined)
    report.add(`${joined.path}content.parts`, 'approximated', 'joined into one text with line breaks');
  if (purpose !== undefined && !places.purpose) report.add(`${first.path}taskType`, 'dropped', TEXTS.noPlace);
  const titled = notes.find(({ title }) => title !== undefined);
  if (titled && !places.titles) report.add(`${titled.path}title`, 'dropped', TEXTS.noPlace);
  dropExtra(notes, report);
}

/** Returns the inputs if all are texts. @throws GatewayError `unsupported` for token inputs */
export function textsOf({ inputs }: EmbeddingsRequest, model: string): readonly string[] {
  return inputs.map((input) => {
    if (typeof input === 'string') return input;
    throw new GatewayError('unsupported', `input: ${model} supports only texts, not tokens`, {
      param: 'input',
    });
  });
}

/**
 * Refuses base64 with element types that the upstream does not produce, because the client would decode wrong numbers.
 * @param made what the upstream answers with
 * @throws GatewayError `unsupported` naming the client's member
 */
export function refuseElements(
  { format, elements }: EmbeddingsRequest,
  model: string,
  made: ElementType = 'float32',
): void {
  if (!elements || elements.type === made || format !== 'base64') return;
  throw new GatewayError(
    'unsupported',
    `${elements.param}: ${model} does not support embeddings of ${elements.type} here`,
    {
      param: elements.param,
    },
  );
}

function dropExtra(notes: readonly EmbeddingNote[], report: Report): void {
  const reported = new Set<string>();
  for (const { path, extra } of notes) {
    for (const name in extra) {
      if (reported.has(name)) continue;
      reported.add(name);
      report.add(path + name, 'dropped', 'only the Gemini protocol supports this field');
    }
  }
}
