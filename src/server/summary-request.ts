// Request for a summary: its text, and the members taken from the client's request.
import type { JsonObject } from '../base/json/index.ts';

/** OpenAI's SDK, `ResponseInputItem.CompactionTrigger`: must be the final input item. */
export const TRIGGER = 'compaction_trigger';

/** Appended to the conversation as its last message. */
const TASK = `Stop here and write a hand-over summary of this conversation. It will take the place of everything above: whoever continues, possibly another model, will see only the user's messages and your summary, none of the answers, tool calls and tool results.

Write down, under a heading each, and leave out a heading that has nothing under it:
1. Goal: what the user wants in the end, and every requirement, preference and limit that was stated, in the user's own words where the wording matters.
2. State: what has been done, what was found out, and how it was checked. Say what is certain and what is an assumption.
3. Decisions: what was decided and why; what was tried and given up, and why.
4. Places: every file, function, address, command, identifier and number that the work needs, exactly as written, with what each is and what was changed in it.
5. Verbatim: code, error messages, data and wording that must not be paraphrased.
6. Open: what remains to be done, in order; what was being done just now, and its very next step; questions that wait for an answer.

Be complete before you are brief, invent nothing, and do not continue the work itself: do not call tools and do not address the user. Write in the language of the conversation. Answer with the summary only.`;

/** Members that concern the client's answer rather than the conversation. */
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
 * Request that compacts a conversation. Instructions and tools are kept, because the model needs them for context and
 * the prompt cache for a match.
 * @param input items of the client's request
 * @param native true: the upstream compacts natively, and only it can read the result
 */
export function summaryRequest(body: JsonObject, input: readonly JsonObject[], native: boolean): JsonObject {
  const kept = Object.fromEntries(Object.entries(body).filter(([name]) => !DROPPED.has(name)));
  const task: JsonObject = native
    ? { type: TRIGGER }
    : { type: 'message', role: 'user', content: [{ type: 'input_text', text: TASK }] };
  const tools = Array.isArray(body['tools']) && body['tools'].length > 0 ? { tool_choice: 'none' } : {};
  return { ...kept, ...tools, input: [...input, task], store: false };
}
