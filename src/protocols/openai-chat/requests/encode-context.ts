// State that all parts of the request encoder share, and their common rules: unknown members, dropped nodes, and paths
// of messages in the client's body.
import type { JsonObject, MutableJsonObject } from '../../../base/json/index.ts';
import { type Item, type Report, type Source, type Target, TEXTS } from '../../../canonical/index.ts';
import { unknownMembers } from '../../../base/json/index.ts';
import { MESSAGE_SHAPE } from '../member-shapes.ts';

export interface EncodeContext {
  readonly target: Target;
  readonly report: Report;
  /** Returns the id under which the upstream knows a call. */
  callId(id: string): string;
  /** Ids of the calls that have a result. */
  readonly answered: ReadonlySet<string>;
}

/**
 * Copies undocumented members of a node's raw form if the target accepts them, otherwise reports them. Empty members
 * are skipped. Never overwrites a member.
 * @param into the encoded node
 * @param path of the raw node
 */
export function copyUnknownMembers(
  into: MutableJsonObject,
  raw: JsonObject | undefined,
  known: ReadonlySet<string>,
  path: string,
  context: EncodeContext,
): void {
  const members = raw && unknownMembers(raw, known);
  if (!members) return;
  const pass = context.target.quirks.unknownFields === 'pass';
  for (const key in members) {
    const value = members[key];
    if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) continue;
    if (pass && key !== '__proto__' && !(key in into)) into[key] = value;
    else context.report.add(`${path}.${key}`, 'dropped', TEXTS.strictUpstream);
  }
}

/** Does the same for a message. @param items decoded from the message; their path is only needed for a report */
export function copyMessageMembers(
  into: MutableJsonObject,
  raw: JsonObject | undefined,
  items: readonly Item[],
  context: EncodeContext,
): void {
  if (raw === undefined) return;
  copyUnknownMembers(into, raw, MESSAGE_SHAPE.known, messagePath(items), context);
}

/** Returns the raw form of a node that came from a client of this protocol. */
export function ownRaw(source: Source | undefined): JsonObject | undefined {
  return source?.protocol === 'openai-chat' ? source.raw : undefined;
}

/** Returns the path of the message that items were decoded from: `messages[2]` for `messages[2].tool_calls[0]`. */
export function messagePath(items: readonly Item[]): string {
  for (const item of items) {
    if (item.path?.startsWith('messages[')) return item.path.slice(0, item.path.indexOf(']') + 1);
  }
  return 'messages';
}
