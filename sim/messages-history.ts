// Validates a conversation like Anthropic's Messages API: roles, calls with results, and thinking blocks that are
// sent back unchanged before their calls ("Extended thinking", "Preserving thinking blocks"). Messages imitate the
// API's own, mostly from memory.
import type { JsonObject, JsonValue } from '../src/base/json/index.ts';
import { asArray, asObject, asString, isJsonArray } from '../src/base/json/index.ts';
import type { RequestProblems } from './request-problems.ts';
import { unknownKey } from './conversation.ts';
import type { SimTraits } from './models.ts';
import { sealIsGenuine, thinkingIsGenuine } from './seal.ts';

const BLOCK_KEYS: Readonly<Record<string, ReadonlySet<string>>> = {
  text: keys('type text cache_control citations'),
  image: keys('type source cache_control'),
  document: keys('type source cache_control title context citations'),
  thinking: keys('type thinking signature'),
  redacted_thinking: keys('type data'),
  tool_use: keys('type id name input cache_control caller'),
  tool_result: keys('type tool_use_id content is_error cache_control'),
};

function keys(list: string): ReadonlySet<string> {
  return new Set(list.split(' '));
}

/** Adds the problems of `messages`, an array. */
export function checkHistory(body: JsonObject, traits: SimTraits, problems: RequestProblems): void {
  const messages = asArray(body['messages']).map(asObject);
  if (messages.length === 0) problems.add('messages: at least one message is required');
  messages.forEach((message, i) => {
    const key = unknownKey(message, new Set(['role', 'content']));
    if (key !== undefined) problems.add(`messages.${i}.${key}: Extra inputs are not permitted`);
    const { role } = message;
    if (role === 'system') {
      problems.add(
        'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
      );
    } else if (role !== 'user' && role !== 'assistant')
      problems.add(`messages.${i}.role: Input should be 'user' or 'assistant'`);
    checkContent(message, i, i === messages.length - 1, problems);
  });
  const turns = mergeTurns(messages);
  checkPairs(turns, problems);
  checkThinkingFirst(body, turns, problems);
  const last = messages.at(-1);
  if (last?.['role'] === 'assistant') checkPrefill(last, body, problems);
  if (!traits.tools && turns.some((turn) => turn.blocks.some((block) => block['type'] === 'tool_use'))) {
    problems.add('messages: tool use is not supported on this model.');
  }
}

interface Turn {
  readonly role: string;
  /** Index of its first message. */
  readonly at: number;
  readonly blocks: JsonObject[];
}

/** Merges adjacent messages of one role into one turn. */
function mergeTurns(messages: readonly JsonObject[]): Turn[] {
  const turns: Turn[] = [];
  messages.forEach((message, at) => {
    const role = asString(message['role']) ?? '';
    const blocks = blocksOf(message['content']);
    const last = turns.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else turns.push({ role, at, blocks: [...blocks] });
  });
  return turns;
}

function blocksOf(content: JsonValue | undefined): readonly JsonObject[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : asArray(content).map(asObject);
}

function checkContent(message: JsonObject, i: number, last: boolean, problems: RequestProblems): void {
  const { content, role } = message;
  if (typeof content !== 'string' && !isJsonArray(content))
    return problems.add(`messages.${i}.content: Field required`);
  if (content.length === 0 && !(last && role === 'assistant')) {
    return problems.add(
      `messages.${i}: all messages must have non-empty content except for the optional final assistant message`,
    );
  }
  if (typeof content === 'string') return;
  content.forEach((value, j) => {
    const block = asObject(value);
    const path = `messages.${i}.content.${j}`;
    const type = asString(block['type']) ?? '';
    const known = BLOCK_KEYS[type];
    const key = known && unknownKey(block, known);
    if (key !== undefined) problems.add(`${path}.${type}.${key}: Extra inputs are not permitted`);
    if (type === '') problems.add(`${path}.type: Field required`);
    if (type === 'text' && block['text'] === '')
      problems.add('messages: text content blocks must be non-empty');
    if (type === 'tool_use') checkToolUse(block, path, problems);
    if (type === 'thinking' || type === 'redacted_thinking')
      checkSeal(block, path, role === 'assistant', problems);
  });
}

function checkToolUse(block: JsonObject, path: string, problems: RequestProblems): void {
  if (!/^[a-zA-Z0-9_-]+$/.test(asString(block['id']) ?? ''))
    problems.add(`${path}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
  if (typeof block['input'] !== 'object' || block['input'] === null || isJsonArray(block['input'])) {
    problems.add(`${path}.tool_use.input: Input should be a valid dictionary`);
  }
}

function checkSeal(block: JsonObject, path: string, allowed: boolean, problems: RequestProblems): void {
  if (!allowed)
    return problems.add(`${path}: \`${String(block['type'])}\` blocks may only be in \`assistant\` messages`);
  if (block['type'] === 'redacted_thinking') {
    if (!sealIsGenuine(asString(block['data']) ?? ''))
      problems.add(`${path}: Invalid \`data\` in \`redacted_thinking\` block`);
    return;
  }
  const signature = asString(block['signature']);
  if (signature === undefined) problems.add(`${path}.thinking.signature: Field required`);
  else if (!thinkingIsGenuine(asString(block['thinking']) ?? '', signature))
    problems.add(`${path}: Invalid \`signature\` in \`thinking\` block`);
}

/** Every call must have a result in the next turn, and every result a call in the previous turn. */
function checkPairs(turns: readonly Turn[], problems: RequestProblems): void {
  turns.forEach((turn, t) => {
    const next = turns[t + 1];
    const calls = idsOf(turn, 'tool_use', 'id');
    const results = new Set(next ? idsOf(next, 'tool_result', 'tool_use_id') : []);
    const missing = calls.filter((id) => !results.has(id));
    if (turn.role === 'assistant' && missing.length > 0) {
      problems.add(
        `messages.${turn.at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
      );
    }
    const before = turns[t - 1];
    const known = new Set(before ? idsOf(before, 'tool_use', 'id') : []);
    for (const id of idsOf(turn, 'tool_result', 'tool_use_id')) {
      if (known.has(id)) continue;
      problems.add(
        `messages.${turn.at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      );
    }
    const firstOther = turn.blocks.findIndex((block) => block['type'] !== 'tool_result');
    const lastResult = turn.blocks.findLastIndex((block) => block['type'] === 'tool_result');
    if (turn.role === 'user' && firstOther >= 0 && lastResult > firstOther) {
      problems.add(
        `messages.${turn.at}: \`tool_result\` blocks must come first in the message that follows \`tool_use\` blocks.`,
      );
    }
    if (new Set(calls).size < calls.length) problems.add('messages: `tool_use` ids must be unique');
  });
}

function idsOf(turn: Turn, type: string, key: string): string[] {
  return turn.blocks.filter((block) => block['type'] === type).map((block) => asString(block[key]) ?? '');
}

/** With a thinking budget, an unfinished turn with tool calls must begin with its thinking. */
function checkThinkingFirst(body: JsonObject, turns: readonly Turn[], problems: RequestProblems): void {
  if (asObject(body['thinking'])['type'] !== 'enabled') return;
  const last = turns.at(-1);
  if (last?.role !== 'user' || !last.blocks.some((block) => block['type'] === 'tool_result')) return;
  const assistant = turns.at(-2);
  const first = assistant?.blocks[0];
  if (!assistant || !first || first['type'] === 'thinking' || first['type'] === 'redacted_thinking') return;
  problems.add(
    `messages.${assistant.at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${String(first['type'])}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceding the lastmost set of \`tool_use\` and \`tool_result\` blocks). To avoid this requirement, disable \`thinking\`.`,
  );
}

function checkPrefill(message: JsonObject, body: JsonObject, problems: RequestProblems): void {
  const text = asString(blocksOf(message['content']).at(-1)?.['text']) ?? '';
  if (/\s$/.test(text)) problems.add('messages: final assistant content cannot end with trailing whitespace');
  const type = asObject(body['thinking'])['type'];
  if (type === 'enabled' || type === 'adaptive')
    problems.add('messages: the final message may not be an `assistant` message when thinking is enabled.');
}
