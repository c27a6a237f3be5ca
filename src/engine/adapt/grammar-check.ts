// Grammars of custom tools at upstreams that only support functions: the input of a call is checked afterwards, and
// the model is asked once to correct it. Only the input changes; the rest of the answer is kept.
import type {
  CanonicalRequest,
  CollectedEvents,
  CustomTool,
  Item,
  Report,
  ToolCallItem,
} from '../../canonical/index.ts';
import { asString, isJsonObject } from '../../base/json/index.ts';
import { GatewayError } from '../../canonical/index.ts';
import { type Budget, checkInput, compileGrammar, type Grammar, inputBudget } from '../grammar/index.ts';
import { type AnswerCheck, endedByItself, nameUpstream, type Validation } from './answer-check.ts';

interface CheckedTool {
  /** JSON path of the tool's grammar in the client's body. */
  readonly path: string;
  readonly grammar: Extract<Grammar, { type: 'checkable' }>;
}

/**
 * Returns a check for the calls of custom tools with grammars, or null when there are none. Used for upstreams that
 * do not enforce grammars.
 * @throws GatewayError `invalid_request` naming an invalid grammar definition
 */
export function checkGrammars(request: CanonicalRequest, report: Report): AnswerCheck | null {
  const tools = new Map<string, CheckedTool>();
  request.tools.forEach((tool, index) => {
    if (tool.type !== 'custom' || tool.format?.['type'] !== 'grammar') return;
    const path = grammarPath(tool, tool.path ?? `tools[${index}]`);
    const syntax = tool.format['syntax'] === 'regex' ? 'regex' : 'lark';
    const grammar = compileGrammar(syntax, asString(tool.format['definition']) ?? '', `${path}.definition`);
    if (grammar.type === 'uncheckable') {
      report.add(
        path,
        'approximated',
        `the upstream does not enforce the grammar, and it is not checked: ${grammar.reason}`,
      );
      return;
    }
    report.add(
      path,
      'approximated',
      'the upstream does not enforce the grammar: the gateway checks calls, and has them corrected once if needed',
    );
    tools.set(tool.name, { path, grammar });
  });
  return tools.size > 0 ? new GrammarAnswerCheck(tools, request, report) : null;
}

/** Chat Completions nests the format that the Responses API has at the top level. */
function grammarPath(tool: CustomTool, path: string): string {
  const inner = tool.source?.raw['custom'];
  if (!isJsonObject(inner)) return `${path}.format`;
  const format = inner['format'];
  return `${path}.custom.format${isJsonObject(format) && isJsonObject(format['grammar']) ? '.grammar' : ''}`;
}

class GrammarAnswerCheck implements AnswerCheck {
  readonly holds: ReadonlySet<string>;
  readonly #tools: ReadonlyMap<string, CheckedTool>;
  /** The request as it was sent to the upstream. */
  readonly #request: CanonicalRequest;
  readonly #report: Report;

  constructor(tools: ReadonlyMap<string, CheckedTool>, request: CanonicalRequest, report: Report) {
    this.holds = new Set(tools.keys());
    this.#tools = tools;
    this.#request = request;
    this.#report = report;
  }

  validate(events: CollectedEvents): Validation {
    const problems = new Map<ToolCallItem, string>();
    const budget = inputBudget();
    // A truncated input does not match, and a repair would be truncated as well.
    if (endedByItself(events))
      for (const item of events.items) {
        const problem = item.type === 'tool_call' ? this.#problemOf(item, budget) : null;
        if (item.type === 'tool_call' && problem !== null) problems.set(item, problem);
      }
    if (problems.size === 0) return { type: 'valid', answer: events };
    return {
      type: 'invalid',
      repair: {
        request: repairRequest(this.#request, events.items, problems),
        choose: (repaired) => ({ answer: this.#replaceInputs(events, problems, repaired), isSecond: false }),
      },
    };
  }

  /** Problem in the input of a call. Null: there is none, or it cannot be determined. */
  #problemOf(call: ToolCallItem, budget: Budget): string | null {
    const tool = call.kind === 'custom' ? this.#tools.get(nameUpstream(call)) : undefined;
    if (!tool) return null;
    const outcome = checkInput(tool.grammar.machine, call.arguments, budget);
    if (outcome.type === 'match') return null;
    if (outcome.type === 'gave_up') {
      this.#note(tool, 'an input was not checked: the grammar is too ambiguous, or the input is too long');
      return null;
    }
    const rest = Array.from(call.arguments)
      .slice(outcome.at, outcome.at + 40)
      .join('');
    const where = rest === '' ? 'it is incomplete' : `no match for ${JSON.stringify(rest)}`;
    return `the input does not match the grammar: ${where} (character ${outcome.at + 1})`;
  }

  /** Replaces each input that does not match by the first matching input for the same tool. */
  #replaceInputs(
    first: CollectedEvents,
    problems: ReadonlyMap<ToolCallItem, string>,
    second: CollectedEvents | GatewayError,
  ): CollectedEvents {
    const calls =
      second instanceof GatewayError ? [] : second.items.filter((item) => item.type === 'tool_call');
    const budget = inputBudget();
    const good = calls.filter((call) => call.kind === 'custom' && this.#problemOf(call, budget) === null);
    const items = first.items.map((item): Item => {
      const problem = item.type === 'tool_call' ? problems.get(item) : undefined;
      if (item.type !== 'tool_call' || problem === undefined) return item;
      const tool = this.#tools.get(nameUpstream(item));
      const at = good.findIndex((call) => nameUpstream(call) === nameUpstream(item));
      const [repaired] = at < 0 ? [] : good.splice(at, 1);
      if (!repaired) {
        const why =
          second instanceof GatewayError ? 'and could not be corrected' : 'even after a second call';
        if (tool) this.#note(tool, `an input does not match, ${why}: ${problem}`);
        return item;
      }
      if (tool) this.#note(tool, `an input did not match and was corrected by a second call: ${problem}`);
      return { ...item, arguments: repaired.arguments, source: undefined };
    });
    return { ...first, items };
  }

  #note(tool: CheckedTool, reason: string): void {
    this.#report.extend(tool.path, 'approximated', reason);
  }
}

/**
 * The conversation plus the invalid turn and a result for each of its calls. The model sees its own reasoning and
 * text, and upstreams require a result for every call.
 */
function repairRequest(
  request: CanonicalRequest,
  turn: readonly Item[],
  problems: ReadonlyMap<ToolCallItem, string>,
): CanonicalRequest {
  const said: Item[] = [];
  const results: Item[] = [];
  for (const item of turn) {
    if (item.type === 'message' || item.type === 'reasoning') said.push(item);
    if (item.type !== 'tool_call') continue;
    const { kind, callId } = item;
    const name = nameUpstream(item);
    said.push({ ...item, name, namespace: undefined });
    const problem = problems.get(item);
    const text = problem
      ? `Not run: ${problem}. Call ${name} again with a corrected input, and nothing else.`
      : 'Not run yet: another call must be corrected first. Do not repeat this call.';
    results.push({
      type: 'tool_result',
      kind,
      callId,
      name,
      parts: [{ type: 'text', text }],
      isError: problem !== undefined,
    });
  }
  return { ...request, items: [...request.items, ...said, ...results] };
}
