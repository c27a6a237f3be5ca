// Converts earlier gateway tool calls to function calls and results for the model. Also finds approval requests that
// were answered since. It uses only items, so any process can continue.
import type { HostedCallItem, HostedFacts, Item, McpQuestionFacts } from '../../canonical/index.ts';
import { GatewayError, OWN_PATH, TEXTS } from '../../canonical/index.ts';
import type { CallOutcome, GatewayTool } from '../tools/gateway-tool.ts';
import type { ApprovedCall } from './tool-registry.ts';

/** Result of a call for the model. */
type Answer = Pick<CallOutcome, 'parts' | 'isError'>;

export class ToolHistory {
  /** By id of the approval request. */
  readonly #answers = new Map<string, Answer>();

  /** Stores the outcome of an approved call. @param questionId id of the approval request */
  storeOutcome(questionId: string, { parts, isError }: Answer): void {
    this.#answers.set(questionId, { parts, isError });
  }

  /**
   * Approved calls that were not made yet. A refused call only yields text.
   * @param running tools that run here
   * @throws GatewayError naming an approval whose request is not among the items
   */
  approvedCalls(items: readonly Item[], running: readonly GatewayTool[]): readonly ApprovedCall[] {
    const made = executedApprovals(items);
    const questions = approvalRequestsIn(items);
    const calls: ApprovedCall[] = [];
    for (const item of items) {
      const answer = factsOf(item);
      if (answer?.type !== 'mcp_answer' || made.has(answer.questionId)) continue;
      const { questionId, isAllowed, reason } = answer;
      // The first answer counts.
      made.add(questionId);
      const question = questions.get(questionId);
      if (!question) {
        const param = `${item.path ?? 'input'}.approval_request_id`;
        const message = `No approval request with id '${questionId.slice(0, 100)}' is part of this conversation.`;
        throw new GatewayError('invalid_request', message, { param });
      }
      const tool = running.find((each) => each.owns(question));
      if (!tool?.allowed) continue;
      if (isAllowed) calls.push({ questionId, call: tool.allowed(question, questionId) });
      else this.storeOutcome(questionId, refusalFor(reason));
    }
    return calls;
  }

  /**
   * Rewrites the items for a model that gets functions instead of these tools. Returns the same list when nothing
   * changes.
   * @param running tools that run here
   */
  rewritten(items: readonly Item[], running: readonly GatewayTool[]): readonly Item[] {
    if (!items.some((item) => item.type === 'hosted_call')) return items;
    const made = executedApprovals(items);
    const questions = approvalRequestsIn(items);
    const toolOf = (facts: HostedFacts): GatewayTool | undefined => running.find((tool) => tool.owns(facts));
    const replayed = items.flatMap((item) => {
      if (item.type !== 'hosted_call' || !item.facts) return [item];
      const { facts } = item;
      if (facts.type === 'mcp_answer') {
        const question = questions.get(facts.questionId);
        const isOurs = this.#answers.has(facts.questionId) || (question && toolOf(question));
        return isOurs ? [] : [item];
      }
      return this.#replayed(item, facts, toolOf(facts), made);
    });
    const given = new Set<Item>(items);
    const rewritten = behindCalls(replayed, (item) => !given.has(item));
    const isSame = rewritten.length === items.length && rewritten.every((item, at) => item === items[at]);
    return isSame ? items : rewritten;
  }

  #replayed(
    item: HostedCallItem,
    facts: HostedFacts,
    tool: GatewayTool | undefined,
    made: ReadonlySet<string>,
  ): readonly Item[] {
    if (facts.type !== 'mcp_question') {
      if (!tool) return [item];
      return facts.type === 'mcp_tools' ? [] : callAndResult(item, tool.recall(facts));
    }
    const id = item.id ?? '';
    const answer = this.#answers.get(id);
    if (!tool && !answer) return [item];
    // The call itself follows later.
    if (made.has(id)) return [];
    const { name, arguments: text } = facts;
    const recalled = tool?.recall(facts) ?? { name, arguments: text || '{}', ...UNANSWERED };
    return callAndResult(item, { ...recalled, ...answer });
  }
}

const UNANSWERED: Answer = {
  parts: [{ type: 'text', text: TEXTS.notAllowed }],
  isError: true,
};

/**
 * Moves our results after all calls of their turn. A client's call may be among them with a later result, and upstreams
 * allow nothing between calls and results.
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

function callAndResult(
  item: HostedCallItem,
  { name, arguments: text, parts, isError }: ReturnType<GatewayTool['recall']>,
): readonly Item[] {
  const path = OWN_PATH;
  const callId = `call_${(item.id ?? '').replace(/\W/g, '_')}`;
  return [
    { type: 'tool_call', kind: 'function', callId, name, arguments: text, path },
    { type: 'tool_result', kind: 'function', callId, name, parts, isError, path },
  ];
}

function refusalFor(reason: string | undefined): Answer {
  const text = reason ? `The user refused this call: ${reason}` : 'The user refused this call.';
  return { parts: [{ type: 'text', text }], isError: true };
}

/** Ids of approval requests whose calls were made. */
function executedApprovals(items: readonly Item[]): Set<string> {
  const made = new Set<string>();
  for (const item of items) {
    const facts = factsOf(item);
    if (facts?.type === 'mcp' && facts.questionId !== undefined) made.add(facts.questionId);
  }
  return made;
}

function approvalRequestsIn(items: readonly Item[]): ReadonlyMap<string, McpQuestionFacts> {
  const questions = new Map<string, McpQuestionFacts>();
  for (const item of items) {
    const facts = factsOf(item);
    if (item.type === 'hosted_call' && facts?.type === 'mcp_question') questions.set(item.id ?? '', facts);
  }
  return questions;
}

function factsOf(item: Item): HostedFacts | undefined {
  return item.type === 'hosted_call' ? item.facts : undefined;
}
