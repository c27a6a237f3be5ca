// Decodes reasoning that a client returns in an assistant message: `reasoning_details`, or plain `reasoning` and
// `reasoning_content`. Joins fragments into items and finds their positions in the turn.
import { isJsonObject } from '../../../base/json/index.ts';
import type { JsonObject } from '../../../base/json/index.ts';
import {
  type Item,
  type OpaqueReasoning,
  type Problems,
  type Source,
  TEXTS,
} from '../../../canonical/index.ts';
import {
  describe,
  readArray,
  readString,
  requireString,
  requireStringOrEmpty,
} from '../../members/read-member.ts';
import type { Member } from '../../members/read-member.ts';

/** An item and its position in its turn; undefined: not given. */
export interface PlacedReasoning {
  readonly index: number | undefined;
  readonly item: Item;
}

interface Fragment {
  readonly type: 'reasoning.text' | 'reasoning.summary' | 'reasoning.encrypted';
  readonly text: string;
  readonly opaque: OpaqueReasoning | undefined;
  readonly format: string | undefined;
  readonly id: string | undefined;
}

interface Draft {
  readonly index: number | undefined;
  readonly path: string;
  format: string | undefined;
  id: string | undefined;
  text: string;
  summary: string;
  opaque: OpaqueReasoning | undefined;
  lastType: Fragment['type'];
}

/**
 * Decodes the reasoning of one assistant message.
 * Details with the same `index` (a number or a numeric string) and `format` are one item. Without an index, neighbours
 * of one type are joined until one has a signature or data. The plain texts only repeat the details, so they are used
 * only without them.
 * @param source the message, shared by everything decoded from it
 */
export function decodeReasoning(
  message: JsonObject,
  path: string,
  source: Source,
  problems: Problems,
): PlacedReasoning[] {
  const details = readArray(message['reasoning_details'], `${path}.reasoning_details`, problems);
  const reasoning = readString(message['reasoning'], `${path}.reasoning`, problems);
  const mirror = readString(message['reasoning_content'], `${path}.reasoning_content`, problems);
  if (details && details.length > 0) {
    return decodeDetails(details, `${path}.reasoning_details`, source, problems);
  }
  const text = reasoning || mirror;
  if (!text) return [];
  const at = reasoning ? `${path}.reasoning` : `${path}.reasoning_content`;
  return [{ index: undefined, item: { type: 'reasoning', text: [text], summary: [], path: at, source } }];
}

/**
 * Inserts reasoning into the other items of its turn. An index is a position; the others fill the gaps in order.
 * Reasoning with an index beyond the turn follows the reasoning before it, because a turn must not end in reasoning.
 */
export function arrangeTurn(reasoning: readonly PlacedReasoning[], others: readonly Item[]): Item[] {
  if (reasoning.length === 0) return [...others];
  const total = others.length + reasoning.filter(({ item }) => item.type === 'reasoning').length;
  const turn: Item[] = [];
  let position = 0;
  let taken = 0;
  for (const { index = 0, item } of [...reasoning].sort((a, b) => (a.index ?? -1) - (b.index ?? -1))) {
    while (index < total && position < index) {
      const next = others[taken];
      if (!next) break;
      turn.push(next);
      taken++;
      position++;
    }
    turn.push(item);
    if (item.type === 'reasoning') position++;
  }
  return turn.concat(others.slice(taken));
}

function decodeDetails(
  details: readonly Member[],
  path: string,
  source: Source,
  problems: Problems,
): PlacedReasoning[] {
  const placed: (Draft | PlacedReasoning)[] = [];
  const byIndex = new Map<number, Draft>();
  let previous: Draft | undefined;
  details.forEach((raw, number) => {
    const at = `${path}[${number}]`;
    if (!isJsonObject(raw)) {
      problems.add(at, TEXTS.mustBeObject(describe(raw)));
      return;
    }
    const index = decodeIndex(raw['index'], `${at}.index`, problems);
    const fragment = decodeFragment(raw, at, problems);
    if (fragment === 'unknown') {
      // The detail itself is the source, because only upstreams of this protocol can read it.
      placed.push({ index, item: { type: 'unknown', path: at, source: { protocol: 'openai-chat', raw } } });
      previous = undefined;
    }
    if (fragment === undefined || fragment === 'unknown') return;
    const candidate = index === undefined ? previous : byIndex.get(index);
    if (candidate && joins(candidate, fragment)) {
      extend(candidate, fragment);
      return;
    }
    const draft: Draft = {
      index,
      path: at,
      format: undefined,
      id: undefined,
      text: '',
      summary: '',
      opaque: undefined,
      lastType: fragment.type,
    };
    extend(draft, fragment);
    placed.push(draft);
    if (index === undefined) previous = draft;
    else {
      byIndex.set(index, draft);
      previous = undefined;
    }
  });
  return placed.map((entry) => ('item' in entry ? entry : finish(entry, source)));
}

function joins(draft: Draft, fragment: Fragment): boolean {
  const { format, opaque } = draft;
  if (format !== undefined && fragment.format !== undefined && format !== fragment.format) return false;
  if (draft.index === undefined) {
    if (opaque) return false;
    return (
      fragment.type === draft.lastType ||
      (fragment.type === 'reasoning.encrypted' && draft.lastType === 'reasoning.summary')
    );
  }
  // Some gateways number every block 0. A complete block accepts no second signature and no more text.
  if (!opaque) return true;
  if (fragment.opaque) return false;
  return !(opaque.kind === 'signature' && fragment.type === 'reasoning.text' && fragment.text !== '');
}

function extend(draft: Draft, fragment: Fragment): void {
  if (fragment.type === 'reasoning.summary') draft.summary += fragment.text;
  else draft.text += fragment.text;
  draft.opaque ??= fragment.opaque;
  draft.format ??= fragment.format;
  draft.id ??= fragment.id;
  draft.lastType = fragment.type;
}

function finish(draft: Draft, source: Source): PlacedReasoning {
  const opaque =
    draft.opaque?.format === UNKNOWN && draft.format !== undefined
      ? { ...draft.opaque, format: draft.format }
      : draft.opaque;
  return {
    index: draft.index,
    item: {
      type: 'reasoning',
      id: draft.id,
      text: draft.text ? [draft.text] : [],
      summary: draft.summary ? [draft.summary] : [],
      opaque,
      format: draft.format,
      path: draft.path,
      source,
    },
  };
}

/** Format of reasoning whose family is unknown. */
const UNKNOWN = 'unknown';

function decodeFragment(raw: JsonObject, path: string, problems: Problems): Fragment | 'unknown' | undefined {
  const type = requireString(raw['type'], `${path}.type`, problems);
  if (type === undefined) return undefined;
  if (type !== 'reasoning.text' && type !== 'reasoning.summary' && type !== 'reasoning.encrypted') {
    return 'unknown';
  }
  const given = readString(raw['format'], `${path}.format`, problems);
  const format = given === UNKNOWN || given === '' ? undefined : given;
  const id = readString(raw['id'], `${path}.id`, problems);
  switch (type) {
    case 'reasoning.text': {
      const text = readString(raw['text'], `${path}.text`, problems) ?? '';
      const signature = readString(raw['signature'], `${path}.signature`, problems);
      const opaque = signature ? toOpaque('signature', signature, format) : undefined;
      return { type, text, opaque, format, id };
    }
    case 'reasoning.summary': {
      const summary = requireStringOrEmpty(raw['summary'], `${path}.summary`, problems);
      // A client that joined the fragments of one index puts the encrypted data into the summary.
      const data = readString(raw['data'], `${path}.data`, problems);
      const opaque = data ? toOpaque('encrypted', data, format) : undefined;
      return summary === undefined ? undefined : { type, text: summary, opaque, format, id };
    }
    case 'reasoning.encrypted': {
      const data = requireString(raw['data'], `${path}.data`, problems);
      return data === undefined
        ? undefined
        : { type, text: '', opaque: toOpaque('encrypted', data, format), format, id };
    }
  }
}

function toOpaque(kind: OpaqueReasoning['kind'], data: string, format: string | undefined): OpaqueReasoning {
  return { kind, data, format: format ?? UNKNOWN };
}

function decodeIndex(value: Member, path: string, problems: Problems): number | undefined {
  if (value === undefined || value === null) return undefined;
  const isNumeric = typeof value === 'number' || (typeof value === 'string' && value.trim() !== '');
  const index = isNumeric ? Number(value) : Number.NaN;
  if (Number.isSafeInteger(index) && index >= 0) return index;
  problems.add(path, TEXTS.mustBeCount);
  return undefined;
}
