// Grammars of custom tools at upstreams that know only functions: a call's input is checked after the fact, and the model
// is asked once to mend it. Only the input changes; whatever else the answer holds stays.
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
import { type AnswerCheck, endedByItself, nameUpstream, type Verdict } from './answer-check.ts';

interface CheckedTool {
  /** JSON path of the tool's grammar in the client's body. */
  readonly path: string;
  readonly grammar: Extract<Grammar, { type: 'checkable' }>;
}

/**
 * A check of the calls of custom tools that have grammars; null when there are none. For upstreams that do not enforce
 * grammars.
 * @throws GatewayError `invalid_request` naming a definition that is no grammar
 */
export function checkGrammars(request: CanonicalRequest, report: Report): AnswerCheck | null {
  const tools = new Map<string, CheckedTool>();
  request.tools.forEach((tool, index) => {
    if (tool.type !== 'custom' || tool.format?.['type'] !== 'grammar') return;
    const path = grammarPath(tool, tool.path ?? `tools[${index}]`);
    const syntax = tool.format['syntax'] === 'regex' ? 'regex' : 'lark';
    const grammar = compileGrammar(syntax, asString(tool.format['definition']) ?? '', `${path}.definition`);
    if (grammar.type === 'uncheckable') {
      report.add(path, 'approximated', `the upstream does not enforce it; not checked: ${grammar.reason}`);
      return;
    }
    report.add(
      path,
      'approximated',
      'the upstream does not enforce it: calls are checked, and mended once if needed',
    );
    tools.set(tool.name, { path, grammar });
  });
  return tools.size > 0 ? new GrammarJudge(tools, request, report) : null;
}

/** Chat Completions nests what the Responses API has flat. */
function grammarPath(tool: CustomTool, path: string): string {
  const inner = tool.source?.raw['custom'];
  if (!isJsonObject(inner)) return `${path}.format`;
  const format = inner['format'];
  return `${path}.custom.format${isJsonObject(format) && isJsonObject(format['grammar']) ? '.grammar' : ''}`;
}

class GrammarJudge implements AnswerCheck {
  readonly holds: ReadonlySet<string>;
  readonly #tools: ReadonlyMap<string, CheckedTool>;
  /** As the upstream got it. */
  readonly #request: CanonicalRequest;
  readonly #report: Report;

  constructor(tools: ReadonlyMap<string, CheckedTool>, request: CanonicalRequest, report: Report) {
    this.holds = new Set(tools.keys());
    this.#tools = tools;
    this.#request = request;
    this.#report = report;
  }

  judge(events: CollectedEvents): Verdict {
    const problems = new Map<ToolCallItem, string>();
    const budget = inputBudget();
    // An input that a limit cut short does not match either, and would not the second time.
    if (endedByItself(events))
      for (const item of events.items) {
        const problem = item.type === 'tool_call' ? this.#problemOf(item, budget) : null;
        if (item.type === 'tool_call' && problem !== null) problems.set(item, problem);
      }
    if (problems.size === 0) return { type: 'good', answer: events };
    return {
      type: 'flawed',
      flaw: {
        repair: repairRequest(this.#request, events.items, problems),
        settle: (mended) => ({ answer: this.#mend(events, problems, mended), isSecond: false }),
      },
    };
  }

  /** Problem in the input of a call. Null: there is none, or it cannot be judged. */
  #problemOf(call: ToolCallItem, budget: Budget): string | null {
    const tool = call.kind === 'custom' ? this.#tools.get(nameUpstream(call)) : undefined;
    if (!tool) return null;
    const outcome = checkInput(tool.grammar.machine, call.arguments, budget);
    if (outcome.type === 'match') return null;
    if (outcome.type === 'gave_up') {
      this.#note(tool, 'an input was not checked: the grammar is too ambiguous, or the input too long');
      return null;
    }
    const rest = Array.from(call.arguments)
      .slice(outcome.at, outcome.at + 40)
      .join('');
    const where = rest === '' ? 'it ends too early' : `nothing matches from ${JSON.stringify(rest)} on`;
    return `the input does not match the grammar: ${where} (character ${outcome.at + 1})`;
  }

  /** Puts the first input of each tool that matches in the place of one that does not. */
  #mend(
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
      const [mended] = at < 0 ? [] : good.splice(at, 1);
      if (!mended) {
        const why = second instanceof GatewayError ? 'and could not be mended' : 'also after a second call';
        if (tool) this.#note(tool, `an input does not match, ${why}: ${problem}`);
        return item;
      }
      if (tool) this.#note(tool, `an input did not match and was mended by a second call: ${problem}`);
      return { ...item, arguments: mended.arguments, source: undefined };
    });
    return { ...first, items };
  }

  #note(tool: CheckedTool, reason: string): void {
    this.#report.extend(tool.path, 'approximated', reason);
  }
}

/**
 * The conversation with the flawed turn and a result for each of its calls: the model sees what it thought and wrote, and
 * no upstream takes a call without its result.
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
