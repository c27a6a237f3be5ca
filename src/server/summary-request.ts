// Request to a model in order to compact a conversation: the words, and what of the client's request goes along.
import type { JsonObject } from '../base/json/index.ts';

/** Stands behind the conversation, as its last message. */
const TASK = `Stop here and write a hand-over summary of this conversation. It will take the place of everything above: whoever continues, possibly another model, will see only the user's messages and your summary, none of the answers, tool calls and tool results.

Write down, under a heading each, and leave out a heading that has nothing under it:
1. Goal: what the user wants in the end, and every requirement, preference and limit that was stated, in the user's own words where the wording matters.
2. State: what has been done, what was found out, and how it was checked. Say what is certain and what is an assumption.
3. Decisions: what was decided and why; what was tried and given up, and why.
4. Places: every file, function, address, command, identifier and number that the work needs, exactly as written, with what each is and what was changed in it.
5. Verbatim: code, error messages, data and wording that must not be paraphrased.
6. Open: what remains to be done, in order; what was being done just now, and its very next step; questions that wait for an answer.

Be complete before you are brief, invent nothing, and do not continue the work itself: do not call tools and do not address the user. Write in the language of the conversation. Answer with the summary only.`;

/** Members that are about the answer that the client wants, not about the conversation. */
const DROPPED: ReadonlySet<string> = new Set([
  'background',
  'conversation',
  'include',
  'max_output_tokens',
  'max_tool_calls',
  'stream',
  'stream_options',
  'text',
  'tool_choice',
  'top_logprobs',
]);

/**
 * The request that has a conversation compacted. Instructions and tools stay: the model needs them to understand what
 * was said, and a prompt cache to recognise it.
 * @param input the items of the client's request
 * @param native true: the upstream compacts by itself, and what it makes only it can read
 */
export function summaryRequest(body: JsonObject, input: readonly JsonObject[], native: boolean): JsonObject {
  const kept = Object.fromEntries(Object.entries(body).filter(([name]) => !DROPPED.has(name)));
  const task: JsonObject = native
    ? { type: 'compaction_trigger' }
    : { type: 'message', role: 'user', content: [{ type: 'input_text', text: TASK }] };
  const tools = Array.isArray(body['tools']) && body['tools'].length > 0 ? { tool_choice: 'none' } : {};
  return { ...kept, ...tools, input: [...input, task], store: false };
}
