// What the gateway's tools did in earlier turns, as a model reads it: calls of functions and their results. Also finds
// the questions to a person that were answered since, whichever process asked them: items are all there is.
import type { HostedCallItem, Item, JsonObject } from '../../canonical/index.ts';
import { asString, GatewayError, OWN_PATH } from '../../canonical/index.ts';
import type { CallOutcome, GatewayCall } from '../../tools/gateway-tool.ts';
import type { McpServerTool } from '../../tools/mcp-tool.ts';
import type { WebSearchTool } from '../../tools/web-search-tool.ts';

export interface ToolHistoryInput {
  readonly search: WebSearchTool | null;
  /** By label. */
  readonly servers: ReadonlyMap<string, McpServerTool>;
}

/** What came of a call, as the model reads it. */
type Answer = Pick<CallOutcome, 'parts' | 'isError'>;

export class ToolHistory {
  readonly #input: ToolHistoryInput;
  /** By the id of the question. */
  readonly #answers = new Map<string, Answer>();

  constructor(input: ToolHistoryInput) {
    this.#input = input;
  }

  /** Remembers what came of an allowed call. @param requestId id of the question */
  settle(requestId: string, { parts, isError }: Answer): void {
    this.#answers.set(requestId, { parts, isError });
  }

  /**
   * The calls that a person answered for and that were not made yet. A refused one comes to nothing but words.
   * @param labels of the servers that are asked from here
   * @throws GatewayError naming an answer to a question that is not among the items
   */
  answered(items: readonly Item[], labels: ReadonlySet<string>): readonly GatewayCall[] {
    const made = new Set(items.map((item) => rawOf(item, 'mcp_call')?.['approval_request_id']));
    const questions = questionsAmong(items);
    const calls: GatewayCall[] = [];
    for (const item of items) {
      const answer = rawOf(item, 'mcp_approval_response');
      const id = answer && asString(answer['approval_request_id']);
      if (!answer || id === undefined || made.has(id)) continue;
      // The first answer counts.
      made.add(id);
      const question = questions.get(id);
      if (!question) {
        const param = `${item.path ?? 'input'}.approval_request_id`;
        const message = `No approval request with id '${id.slice(0, 100)}' is part of this conversation.`;
        throw new GatewayError('invalid_request', message, { param });
      }
      const label = asString(question['server_label']) ?? '';
      const server = this.#input.servers.get(label);
      if (!server || !labels.has(label)) continue;
      if (answer['approve'] === true) calls.push(server.approved(question));
      else this.settle(id, answerOf(refusalOf(answer), true));
    }
    return calls;
  }

  /**
   * The items as they read for a model that is offered functions in place of these tools; the same list when nothing
   * changes.
   * @param searches whether the search is one of them
   * @param labels of the servers that are
   */
  rewritten(items: readonly Item[], searches: boolean, labels: readonly string[]): readonly Item[] {
    if (!items.some((item) => item.type === 'hosted_call')) return items;
    const ours = new Set(labels);
    const made = new Set(items.map((item) => rawOf(item, 'mcp_call')?.['approval_request_id']));
    const questions = questionsAmong(items);
    const told = items.flatMap((item) => {
      if (item.type !== 'hosted_call') return [item];
      if (item.kind !== 'mcp_approval_response') return this.#told(item, searches, ours, made);
      const id = asString(item.source.raw['approval_request_id']) ?? '';
      const label = asString(questions.get(id)?.['server_label']) ?? '';
      return ours.has(label) || this.#answers.has(id) ? [] : [item];
    });
    const given = new Set<Item>(items);
    const rewritten = behindCalls(told, (item) => !given.has(item));
    const isSame = rewritten.length === items.length && rewritten.every((item, at) => item === items[at]);
    return isSame ? items : rewritten;
  }

  #told(
    item: HostedCallItem,
    searches: boolean,
    ours: ReadonlySet<string>,
    made: ReadonlySet<unknown>,
  ): readonly Item[] {
    const { raw } = item.source;
    const isOurs = ours.has(asString(raw['server_label']) ?? '');
    switch (item.kind) {
      case 'web_search_call': {
        const earlier = searches ? this.#input.search?.recall(raw) : undefined;
        if (!earlier) return [item];
        const { name, args, text, isError } = earlier;
        return callAndResult(item, name, JSON.stringify(args), answerOf(text, isError));
      }
      case 'mcp_call':
        return isOurs ? this.#call(item, outcomeOf(raw)) : [item];
      case 'mcp_approval_request': {
        const id = asString(raw['id']) ?? item.id ?? '';
        const answer = this.#answers.get(id);
        if (!isOurs && !answer) return [item];
        // The call itself stands further on.
        if (made.has(id)) return [];
        return this.#call(item, answer ?? answerOf('Nobody has allowed this call.', true));
      }
      case 'mcp_list_tools':
        return isOurs ? [] : [item];
      default:
        return [item];
    }
  }

  #call(item: HostedCallItem, answer: Answer): readonly Item[] {
    const { raw } = item.source;
    const toolName = asString(raw['name']) ?? '';
    const name = this.#input.servers.get(asString(raw['server_label']) ?? '')?.functionOf(toolName);
    return callAndResult(item, name ?? toolName, asString(raw['arguments']) || '{}', answer);
  }
}

/**
 * The items with results of ours behind all calls of their turn: a call of the client may stand among them whose own
 * result comes later, and no upstream takes anything between calls and their results.
 */
function behindCalls(items: readonly Item[], isOurs: (item: Item) => boolean): Item[] {
  const placed: Item[] = [];
  const waiting: Item[] = [];
  const open = new Set<string>();
  for (const item of items) {
    if (item.type === 'tool_call') open.add(item.callId);
    if (item.type === 'tool_result') {
      open.delete(item.callId);
      if (open.size > 0 && isOurs(item)) {
        waiting.push(item);
        continue;
      }
    }
    const endsTurn = item.type === 'tool_result' || (item.type === 'message' && item.role !== 'assistant');
    if (endsTurn) placed.push(...waiting.splice(0));
    placed.push(item);
  }
  return [...placed, ...waiting];
}

function callAndResult(item: HostedCallItem, name: string, args: string, answer: Answer): readonly Item[] {
  const path = OWN_PATH;
  const callId = `call_${(item.id ?? asString(item.source.raw['id']) ?? '').replace(/\W/g, '_')}`;
  const { parts, isError } = answer;
  return [
    { type: 'tool_call', kind: 'function', callId, name, arguments: args, path },
    { type: 'tool_result', kind: 'function', callId, name, parts, isError, path },
  ];
}

function answerOf(text: string, isError = false): Answer {
  return { parts: [{ type: 'text', text }], isError };
}

function outcomeOf(raw: JsonObject): Answer {
  const error = raw['error'] ?? null;
  if (error === null) return answerOf(asString(raw['output']) ?? '');
  return answerOf(typeof error === 'string' ? error : JSON.stringify(error), true);
}

function refusalOf(answer: JsonObject): string {
  const reason = asString(answer['reason']);
  return reason ? `The user refused this call: ${reason}` : 'The user refused this call.';
}

function questionsAmong(items: readonly Item[]): ReadonlyMap<string, JsonObject> {
  const questions = new Map<string, JsonObject>();
  for (const item of items) {
    const raw = rawOf(item, 'mcp_approval_request');
    if (raw) questions.set(asString(raw['id']) ?? '', raw);
  }
  return questions;
}

function rawOf(item: Item, kind: string): JsonObject | undefined {
  return item.type === 'hosted_call' && item.kind === kind ? item.source.raw : undefined;
}
