// Identifies conversations, so that each can return to the endpoint that caches its prefix.
import { hash } from 'node:crypto';
import type { CanonicalRequest, Item, Usage } from '../../canonical/index.ts';
import type { DurationMs } from '../../base/units.ts';

/** Shorter prompts are not cached: OpenAI and Anthropic begin at 1,024 tokens, about 4 characters each. */
const SHORTEST_CHARS = 4_096;
/**
 * Characters at each end of a long text that are hashed together with its length: sufficient to distinguish texts, and
 * fast.
 */
const END_CHARS = 1_024;
/** Maximum characters hashed in total. */
const HASHED_CHARS = 16_384;
const FIVE_MINUTES_MS = 300_000;
const HOUR_MS = 3_600_000;

/**
 * Identity of a conversation: project, instructions, tools and first messages, which later turns repeat. Null: the
 * prompt is too short to be cached, or the task is not text.
 */
export function conversationOf(
  request: CanonicalRequest,
  projectId: string,
  inputChars: number,
): string | null {
  if (inputChars < SHORTEST_CHARS || request.task) return null;
  const words = [projectId];
  for (const tool of request.tools) words.push(tool.type === 'hosted' ? tool.kind : tool.name);
  let left = HASHED_CHARS;
  for (const item of request.items) {
    const text = sampleOf(textOf(item));
    words.push(text);
    left -= text.length;
    if (left <= 0 || (item.type === 'message' && item.role === 'user')) break;
  }
  return hash('sha256', words.join('\0'), 'base64url');
}

function sampleOf(text: string): string {
  if (text.length <= 2 * END_CHARS) return text;
  return `${text.length} ${text.slice(0, END_CHARS)}${text.slice(-END_CHARS)}`;
}

function textOf(item: Item): string {
  if (item.type !== 'message') return item.type;
  return item.parts.map((part) => (part.type === 'text' ? part.text : part.type)).join('\0');
}

/**
 * Expected lifetime of the upstream's prompt cache in milliseconds: as requested, otherwise the five minutes that
 * vendors document.
 */
export function cacheLifeMs(usage: Usage | null): DurationMs {
  return usage && usage.input.cacheWrite1h > 0 ? HOUR_MS : FIVE_MINUTES_MS;
}
