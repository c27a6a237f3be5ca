// Body members that OpenAI's two protocols share. They are copied from clients of either to upstreams of either, if the
// upstream accepts them.
import type { JsonValue, MutableJsonObject } from '../../base/json/index.ts';
import { type CanonicalRequest, type Report, type Target, TEXTS } from '../../canonical/index.ts';

/** Members with the same name and meaning in both protocols (API reference, both pages, 2026-11). */
const NAMES = [
  'metadata',
  'prompt_cache_key',
  'prompt_cache_retention',
  'safety_identifier',
  'service_tier',
  'user',
] as const;

/** Protocols that have these members. */
const PROTOCOLS: ReadonlySet<string> = new Set(['openai-chat', 'openai-responses']);

/** Names of the shared members, for encoders that copy all others themselves. */
export const SHARED_MEMBERS: ReadonlySet<string> = new Set(NAMES);

/** Members of Responses, and one of Codex, without meaning for Chat Completions servers. */
const OF_RESPONSES_ALONE: ReadonlySet<string> = new Set(['max_tool_calls', 'client_metadata']);

/**
 * True for an undocumented member of a Responses request. A self-hosted server may know it from its Chat Completions
 * (vLLM's `structured_outputs`, `chat_template_kwargs`, `guided_json`).
 */
export function isServerMember(name: string): boolean {
  return !OF_RESPONSES_ALONE.has(name);
}

/** True if these members can be copied from clients of one protocol to upstreams of the other. */
export function sharesMembers(client: string, upstream: string): boolean {
  return PROTOCOLS.has(client) && PROTOCOLS.has(upstream);
}

/**
 * Copies the client's own values, and reports those that the upstream does not accept.
 * @param written members that were already written
 * @param needStore members that servers refuse unless they are known to accept them
 */
export function copySharedMembers(
  body: MutableJsonObject,
  request: CanonicalRequest,
  target: Target,
  report: Report,
  {
    written = NONE,
    needStore = NONE,
  }: { written?: ReadonlySet<string>; needStore?: ReadonlySet<string> } = {},
): void {
  if (!PROTOCOLS.has(request.protocol)) return;
  for (const name of NAMES) {
    const value = request.raw[name];
    if (value === undefined || !hasValue(value) || written.has(name) || body[name] !== undefined) continue;
    if (takes(target, name, value, !needStore.has(name))) body[name] = value;
    else if (name === 'metadata') reportMetadata(request, report);
    else report.add(name, 'dropped', reasonOf(target, name));
  }
}

const NONE: ReadonlySet<string> = new Set();

/** False for empty values. */
function hasValue(value: JsonValue): boolean {
  if (value === null || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

function takes({ members, quirks }: Target, name: string, value: JsonValue, otherwise: boolean): boolean {
  const known = members?.[name];
  if (known === undefined) return otherwise && quirks.unknownFields === 'pass';
  return typeof known === 'boolean' ? known : typeof value === 'string' && known.includes(value);
}

function reasonOf({ members }: Target, name: string): string {
  const known = members?.[name];
  return typeof known === 'object' ? `the upstream supports ${known.join(', ')} here` : TEXTS.unknownMember;
}

/** Reports metadata as dropped, except for Chat Completions: its documentation says that metadata is only recorded. */
function reportMetadata({ protocol }: CanonicalRequest, report: Report): void {
  if (protocol === 'openai-chat') return;
  report.add(
    'metadata',
    'dropped',
    'stored in the record and returned in the response; the upstream does not support it',
  );
}
