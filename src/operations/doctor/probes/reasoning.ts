// Probes of reasoning: how it is switched, where it is returned, and whether it must be sent back. A member without an
// effect does not count as a switch, because many servers ignore unknown members.
import type {
  Item,
  Quirks,
  ReasoningItem,
  ReasoningStyle,
  ResolvedReasoning,
} from '../../../canonical/index.ts';
import type { MeasuredFacts } from '../../../catalog/index.ts';
import type { AskedAnswer } from '../../../engine/index.ts';
import { serverFacts } from '../../../protocols/index.ts';
import { QUESTION_TOKENS, userSays, type Examination } from '../examination.ts';
import { no, unknown, whereVaries, yes, type Probe, type Verdict } from '../probe.ts';
import { callsOf, hasReasoned, isRefused, wordsOf } from '../read-answer.ts';
import { toolNamed } from './tools.ts';

const RIDDLE = 'A farmer has 17 sheep; all but 9 run away. How many are left? Answer with the number alone.';
/** Anthropic's minimum budget (documentation "Extended thinking"); others accept less. */
const BUDGET = 1024;
/** Tokens for the budget and an answer. */
const ROOM = 2 * BUDGET;
const ON: ResolvedReasoning = { mode: 'on', effort: 'low', budgetTokens: BUDGET, summary: undefined };
const BY_EFFORT: ResolvedReasoning = { ...ON, budgetTokens: undefined };
const OFF: ResolvedReasoning = { mode: 'off' };

/** Reasoning style of a model that obeys a field, if nothing else is known of the model. */
const STYLE_OF: readonly (readonly [Exclude<Quirks['reasoningField'], 'none'>, ReasoningStyle])[] = [
  ['reasoning_effort', 'effort'],
  ['reasoning', 'effort'],
  ['thinking', 'effort'],
  ['enable_thinking', 'budget'],
  ['chat_template_kwargs', 'effort'],
];

const reasoning: Probe = {
  id: 'reasoning',
  title: 'reasons on request',
  calls: 1 + STYLE_OF.length,
  tokens: () => (1 + STYLE_OF.length) * (QUESTION_TOKENS + BUDGET),
  async run(examination) {
    const base = await examination.ask({ text: RIDDLE, maxOutputTokens: ROOM });
    if (base.failure) return unknown(wordsOf(base));
    note(examination, base);
    const byItself = hasReasoned(base);
    return serverFacts(examination.endpoint.protocol).varies.reasoningField
      ? findField(examination, byItself)
      : findStyle(examination, byItself);
  },
};

/** Finds the member that switches reasoning: the one that changes the model's default behaviour. */
async function findField(examination: Examination, byItself: boolean): Promise<Verdict> {
  const preset = examination.quirks.reasoningField;
  const known = examination.endpoint.reasoningStyle;
  const candidates = STYLE_OF.toSorted(([a], [b]) => Number(b === preset) - Number(a === preset));
  const refusals: string[] = [];
  let isCertain = true;
  for (const [field, style] of candidates) {
    const answer = await examination.ask({
      text: RIDDLE,
      maxOutputTokens: ROOM,
      reasoning: byItself ? OFF : style === 'budget' ? ON : BY_EFFORT,
      reasoningStyle: known === 'none' ? style : known,
      quirks: { reasoningField: field },
    });
    if (isRefused(answer)) refusals.push(field);
    else if (answer.failure) isCertain = false;
    else if (hasReasoned(answer) !== byItself) {
      note(examination, answer);
      return yes(byItself ? 'by default; can be disabled' : 'on request', {
        value: [field, shown(examination)].filter(Boolean).join(', '),
        facts: {
          quirks: { reasoningField: field },
          reasoningStyle: known === 'none' ? style : known,
          reasoningMandatory: false,
        },
      });
    }
  }
  if (byItself)
    return yes('always; cannot be disabled', {
      value: ['always', shown(examination)].filter(Boolean).join(', '),
      facts: isCertain && known !== 'none' ? { reasoningStyle: known, reasoningMandatory: true } : {},
    });
  if (!isCertain) return unknown('some requests failed');
  if (refusals.length === candidates.length)
    return no('every parameter for it is rejected', { facts: { reasoningStyle: 'none' } });
  return no('no parameter for it has an effect');
}

/** Finds the style for protocols with a single member, which takes levels, tokens, or both. */
async function findStyle(examination: Examination, byItself: boolean): Promise<Verdict> {
  const works: ReasoningStyle[] = [];
  const words: string[] = [];
  let refused = 0;
  const styles = serverFacts(examination.endpoint.protocol).reasoningStyles;
  for (const reasoningStyle of styles) {
    const answer = await examination.ask({
      text: RIDDLE,
      maxOutputTokens: ROOM,
      reasoning: reasoningStyle === 'effort' ? BY_EFFORT : ON,
      reasoningStyle,
    });
    if (isRefused(answer)) {
      refused += 1;
      words.push(`${reasoningStyle}: ${wordsOf(answer)}`);
    } else if (answer.failure) return unknown(wordsOf(answer));
    else if (hasReasoned(answer)) works.push(reasoningStyle);
  }
  const [style] = works;
  const facts: Partial<MeasuredFacts> = style
    ? { reasoningStyle: works.length > 1 ? 'both' : style }
    : refused === styles.length
      ? { reasoningStyle: 'none' }
      : {};
  if (style) return yes(`controlled by ${works.join(' or ')}`, { value: facts.reasoningStyle, facts });
  return byItself
    ? yes('by default; cannot be controlled', { value: 'always', facts })
    : no(words.join('; ') || 'no reasoning detected', { facts });
}

const MEMBERS = ['reasoning_details', 'reasoning_content', 'reasoning'] as const;

/** Records which member contained reasoning. */
function note(examination: Examination, { text }: AskedAnswer): void {
  examination.reasoningMember ??= MEMBERS.find((member) =>
    new RegExp(`"${member}"\\s*:\\s*(?:"[^"]|\\[\\s*\\{)`).test(text),
  );
}

function shown({ reasoningMember }: Examination): string {
  return reasoningMember === undefined ? '' : `returned in ${reasoningMember}`;
}

const replay: Probe = {
  id: 'reasoning_replay',
  title: 'works without returned reasoning',
  suits: whereVaries('reasoningReplay'),
  calls: 3,
  tokens: () => 3 * (QUESTION_TOKENS + BUDGET),
  async run(examination) {
    const member = examination.reasoningMember;
    if (member === undefined) return unknown('no reasoning in its response');
    const question = userSays('What is the weather in Paris? Call get_weather.');
    const always = {
      tools: [toolNamed('get_weather', 'city', 'Gets the weather of one city.')],
      maxOutputTokens: ROOM,
      reasoning: examination.reasoningStyle === 'none' ? undefined : BY_EFFORT,
    };
    const first = await examination.ask({ ...always, items: [question] });
    const [call] = callsOf(first);
    if (!call || !hasReasoned(first)) return unknown('no tool call with preceding reasoning');
    const items: readonly Item[] = [
      question,
      ...first.collected.items.map((item) => (item.type === 'reasoning' ? own(item, examination) : item)),
      {
        type: 'tool_result',
        kind: 'function',
        callId: call.callId,
        parts: [{ type: 'text', text: 'Sunny' }],
      },
    ];
    const without = await examination.ask({ ...always, items, quirks: { reasoningReplay: 'none' } });
    if (!without.failure) return yes('continues after tool calls without it');
    if (!isRefused(without)) return unknown(wordsOf(without));
    const back = await examination.ask({ ...always, items, quirks: { reasoningReplay: member } });
    return back.failure
      ? unknown(`rejected without it (${wordsOf(without)}) and with it: ${wordsOf(back)}`)
      : no(`must be sent back: ${wordsOf(without)}`, {
          value: member,
          facts: { quirks: { reasoningReplay: member } },
        });
  },
};

/** Marks reasoning as the endpoint's own, as the gateway does with answers. */
function own(item: ReasoningItem, { endpoint }: Examination): ReasoningItem {
  return { ...item, format: endpoint.reasoningFormat ?? undefined };
}

export const reasoningProbes: readonly Probe[] = [reasoning, replay];
