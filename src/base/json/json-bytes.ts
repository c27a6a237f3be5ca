// A JSON object as the bytes that arrived, and edits of its members that leave all other bytes unchanged.
import { joined, type Slices } from '../lib/bytes.ts';
import { walkMembers } from './members.ts';
import { type MemberPlace, scanJson } from './scan.ts';
import type { JsonValue } from './value.ts';

export interface JsonBytes {
  readonly bytes: Buffer;
  /** Offsets of the object's members, in order; empty if the text is not an object. */
  readonly members: readonly MemberPlace[];
}

/** Placeholder for a body that is no longer needed, so that its memory can be freed. */
export const NO_JSON: JsonBytes = { bytes: Buffer.alloc(0), members: [] };

export interface MemberEdits {
  /** New values by name; missing members are appended. */
  readonly set: Readonly<Record<string, JsonValue>>;
  readonly remove?: readonly string[] | undefined;
}

/** Scans an object that is known to be valid. @param bytes valid JSON */
export function jsonBytes(bytes: Buffer): JsonBytes {
  return { bytes, members: scanJson(bytes).members };
}

/**
 * Sets members of an upstream's object. Reads only as far as needed to find them; of duplicate members, the first changes.
 * @param object valid JSON of any depth
 * @returns slices of the object around the new values
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

/** Encodes a value as JSON in UTF-8. */
export function bytesOfJson(value: JsonValue): Buffer {
  return Buffer.from(JSON.stringify(value));
}

/** Changes and removes members. @returns slices of the object around the edits */
export function editJson({ bytes, members }: JsonBytes, { set, remove = NONE }: MemberEdits): Slices {
  const slices: Uint8Array[] = [];
  /** Offset up to which the object has been copied or removed. */
  let at = 0;
  const copyTo = (to: number): void => {
    if (to > at) slices.push(bytes.subarray(at, to));
    at = to;
  };
  const missing = new Set(Object.keys(set));
  const lastKept = members.findLastIndex(({ name }) => !remove.includes(name));
  for (const [place, { name, from, valueFrom, to }] of members.entries()) {
    if (remove.includes(name)) {
      // A removed member takes the comma after it; after the last member that stays, the comma before it.
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
