// Converts prompt-cache breakpoints between OpenAI's form and the canonical form, which is Anthropic's. OpenAI's is
// `prompt_cache_breakpoint` on a content part (API reference, "Prompt caching", GPT-5.6 and later, 2026-11). Where a
// breakpoint may stand is checked elsewhere.
import type { JsonObject } from '../../base/json/index.ts';
import type { Problems, Report } from '../../canonical/index.ts';
import { readObject, readString } from '../members/read-member.ts';
import type { Member } from '../members/read-member.ts';

/** Lifetimes that OpenAI accepts. Without one, the request's own lifetime applies, which is 30 minutes. */
const LIFETIMES: ReadonlySet<unknown> = new Set(['30m', '12h']);

/** Returns the canonical form of a breakpoint. Its lifetime keeps OpenAI's value. */
export function decodeBreakpoint(value: Member, path: string, problems: Problems): JsonObject | undefined {
  const breakpoint = readObject(value, path, problems);
  if (!breakpoint) return undefined;
  const ttl = readString(breakpoint['ttl'], `${path}.ttl`, problems);
  return { type: 'ephemeral', ...(ttl === undefined ? {} : { ttl }) };
}

/** Returns a canonical breakpoint in OpenAI's form. @param path of the node that carries it */
export function encodeBreakpoint(cache: JsonObject, path: string, report: Report): JsonObject {
  const { ttl } = cache;
  if (LIFETIMES.has(ttl)) return { mode: 'explicit', ttl };
  if (ttl === '1h')
    report.add(`${path}.cache_control.ttl`, 'approximated', 'OpenAI supports only 30 minutes or 12 hours');
  return { mode: 'explicit' };
}

/**
 * Returns a canonical breakpoint with a lifetime of Anthropic: five minutes or an hour (documentation "Prompt caching",
 * 2026-11).
 * @param path of the node that carries it
 */
export function anthropicBreakpoint(cache: JsonObject, path: string, report: Report): JsonObject {
  const { ttl } = cache;
  if (!LIFETIMES.has(ttl)) return cache;
  if (ttl === '12h')
    report.add(`${path}.prompt_cache_breakpoint.ttl`, 'approximated', 'Anthropic supports at most one hour');
  return { ...cache, ttl: '1h' };
}
