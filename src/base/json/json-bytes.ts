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

/** The same object with some members changed or removed, as slices of it around the edits. */
export function editJson({ bytes, members }: JsonBytes, { set, remove = NONE }: MemberEdits): Slices {
  const slices: Uint8Array[] = [];
  /** Everything before it is in the slices, or gone. */
  let at = 0;
  const copyTo = (to: number): void => {
    if (to > at) slices.push(bytes.subarray(at, to));
    at = to;
  };
  const missing = new Set(Object.keys(set));
  const lastKept = members.findLastIndex(({ name }) => !remove.includes(name));
  for (const [place, { name, from, valueFrom, to }] of members.entries()) {
    if (remove.includes(name)) {
      // The comma behind a member goes with it; behind the last one that stays, the comma before it.
      const isBehindKept = lastKept >= 0 && place > lastKept;
      copyTo(isBehindKept ? (members[place - 1]?.to ?? from) : from);
      at = isBehindKept ? to : (members[place + 1]?.from ?? to);
    } else if (missing.delete(name)) {
      copyTo(valueFrom);
      slices.push(bytesOfJson(set[name] ?? null));
      at = to;
    }
  }
  if (missing.size > 0) {
    copyTo(members.at(-1)?.to ?? bytes.indexOf('{') + 1);
    const added = [...missing].map((name) => `${JSON.stringify(name)}:${JSON.stringify(set[name] ?? null)}`);
    slices.push(Buffer.from((lastKept < 0 ? '' : ',') + added.join(',')));
  }
  slices.push(bytes.subarray(at));
  return slices;
}

const NONE: readonly string[] = [];
