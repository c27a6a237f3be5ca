// Reads Gemini answers as the strictest client would, without any of the product's code: chunks or whole bodies become
// one list of units, each with the signature that stands on it. Notes what Google's own clients could not take.
import { at, list, sortedJson, word } from '../recordings/loose.ts';
import type { Loose } from '../recordings/loose.ts';

/** A stretch of an answer. Neighbours of one kind are one unit unless the first carries a signature. */
export interface Unit {
  kind: 'text' | 'thought' | 'call' | 'other';
  /** The text; of a call its name and arguments; of anything else its JSON. */
  text: string;
  /** The id of a call; '' where there is none. */
  id: string;
  /** '' where there is none. */
  signature: string;
}

export interface ReadAnswer {
  readonly units: Unit[];
  readonly finish: string;
  /** Members that say where the words come from, as JSON. */
  readonly grounding: string;
  readonly tokens: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
}

const COUNTS = [
  'promptTokenCount',
  'cachedContentTokenCount',
  'candidatesTokenCount',
  'toolUsePromptTokenCount',
  'thoughtsTokenCount',
] as const;
const GROUNDING = ['groundingMetadata', 'citationMetadata', 'urlContextMetadata'] as const;

/** Reads an answer from its chunks; a whole answer is one. */
export function readAnswer(chunks: readonly Loose[]): ReadAnswer {
  const units: Unit[] = [];
  const problems: string[] = [];
  const grounding: Record<string, unknown> = {};
  let finish = '';
  let usage: Loose | undefined;
  for (const chunk of chunks) {
    if (at(chunk, 'error')) problems.push(`an error: ${word(at(chunk, 'error', 'message'))}`);
    usage = at(chunk, 'usageMetadata') ?? usage;
    const candidate = list(at(chunk, 'candidates'))[0];
    if (candidate === undefined) problems.push('a chunk without a candidate');
    const parts = list(at(candidate, 'content', 'parts'));
    if (parts.length === 0) problems.push('a content without parts');
    if (at(candidate, 'content', 'role') !== ('model' as unknown)) problems.push('a role that is not model');
    for (const part of parts) addPart(units, part, problems);
    if (finish !== '' && parts.some((part) => word(part['text']) !== '' || part['functionCall']))
      problems.push('content after the end');
    finish = word(at(candidate, 'finishReason')) || finish;
    for (const name of GROUNDING)
      if (Object.keys(at(candidate, name) ?? {}).length > 0) grounding[name] = at(candidate, name);
  }
  if (finish === '') problems.push('no finish reason');
  const tokens = Object.fromEntries(COUNTS.map((name) => [name, Number(at(usage, name) ?? 0)]));
  return { units, finish, grounding: sortedJson(JSON.stringify(grounding)), tokens, problems };
}

/** Adds a part to the units. */
export function addPart(units: Unit[], part: Loose, problems: string[] = []): void {
  const signature = word(part['thoughtSignature']);
  const call = part['functionCall'];
  if (call) {
    if (word(call['name']) === '') problems.push('a call without a name');
    const text = `${word(call['name'])}(${JSON.stringify(call['args'] ?? {})})`;
    units.push({ kind: 'call', text, id: word(call['id']), signature });
    return;
  }
  if (typeof part['text'] !== 'string') {
    units.push({ kind: 'other', text: JSON.stringify(part), id: '', signature: '' });
    return;
  }
  const text = word(part['text']);
  const kind = part['thought'] === (true as unknown) ? 'thought' : 'text';
  if (text === '' && signature === '') return;
  const last = units.at(-1);
  if (signature === '' && last?.kind === kind && last.signature === '') last.text += text;
  else units.push({ kind, text, id: '', signature });
}

/** The chunks of an event stream: data lines alone, no names, no terminator. */
export function chunksOf(frames: string): Loose[] {
  const events = frames.split('\n\n');
  if (events.pop() !== '') throw new Error('the stream does not end with a blank line');
  return events.map((event) => {
    if (!event.startsWith('data: ') || event.includes('\n')) throw new Error(`not a data line: ${event}`);
    return JSON.parse(event.slice(6)) as Loose;
  });
}
