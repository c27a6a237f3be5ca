// A JSON object as it arrived: its bytes, and edits of its members that leave every other byte alone.
import { joined, type Slices } from '../lib/slices.ts';
import { walkMembers } from './members.ts';
import { type MemberPlace, scanJson } from './scan.ts';
import type { JsonValue } from './value.ts';

export interface JsonBytes {
  readonly bytes: Buffer;
  /** Places of the object's members, in their order; none where it is no object. */
  readonly members: readonly MemberPlace[];
}

/** In the place of what nobody needs any more. */
export const NO_JSON: JsonBytes = { bytes: Buffer.alloc(0), members: [] };

export interface MemberEdits {
  /** New values; a name that is not there is appended. */
  readonly set: Readonly<Record<string, JsonValue>>;
  readonly remove?: readonly string[] | undefined;
}

/** An object that was written here, or scanned before. @param bytes valid JSON */
export function jsonBytes(bytes: Buffer): JsonBytes {
  return { bytes, members: scanJson(bytes).members };
}

/**
 * An upstream's object with some members set, as slices of it around them: only as much of it is looked at as it takes to
 * find these. Of a name that stands twice, the first is changed.
 * @param object valid JSON, however deep
 */
export function setMembers(object: Uint8Array, set: MemberEdits['set']): Slices {
  const bytes = joined([object]);
  const missing = new Set(Object.keys(set));
  const members: MemberPlace[] = [];
  walkMembers(bytes, (member) => {
    members.push(member);
    missing.delete(member.name);
    return missing.size > 0;
  });
  return editJson({ bytes, members }, { set });
}

/** The UTF-8 of a value's JSON. */
export function bytesOfJson(value: JsonValue): Buffer {
  return Buffer.from(JSON.stringify(value));
}

/** Bytes that go, and what stands in their place. */
interface Cut {
  readonly from: number;
  readonly to: number;
  readonly text?: string;
}

/** The same object with some members changed or removed, as slices of it around the edits. */
export function editJson(object: JsonBytes, edits: MemberEdits): Slices {
  const { bytes } = object;
  const slices: Uint8Array[] = [];
  let at = 0;
  for (const { from, to, text } of cutsFor(object, edits)) {
    if (from > at) slices.push(bytes.subarray(at, from));
    if (text !== undefined) slices.push(Buffer.from(text));
    at = to;
  }
  slices.push(bytes.subarray(at));
  return slices;
}

/** In their order. */
function cutsFor({ bytes, members }: JsonBytes, { set, remove = [] }: MemberEdits): readonly Cut[] {
  const missing = new Set(Object.keys(set));
  const lastKept = members.findLast(({ name }) => !remove.includes(name));
  const cuts: Cut[] = [];
  const append = (at: number): void => {
    const added = [...missing].map((name) => `${JSON.stringify(name)}:${JSON.stringify(set[name] ?? null)}`);
    if (added.length > 0) cuts.push({ from: at, to: at, text: (lastKept ? ',' : '') + added.join(',') });
  };
  let isBehindKept = false;
  for (const [place, member] of members.entries()) {
    const { name, from, valueFrom, to } = member;
    if (remove.includes(name)) {
      // The comma behind a member goes with it; behind the last one that stays, the comma before it.
      if (isBehindKept) cuts.push({ from: members[place - 1]?.to ?? from, to });
      else cuts.push({ from, to: members[place + 1]?.from ?? to });
      continue;
    }
    if (missing.delete(name)) cuts.push({ from: valueFrom, to, text: JSON.stringify(set[name] ?? null) });
    if (member !== lastKept) continue;
    isBehindKept = true;
    append(to);
  }
  if (!lastKept) append(members.at(-1)?.to ?? bytes.indexOf('{') + 1);
  return cuts;
}
