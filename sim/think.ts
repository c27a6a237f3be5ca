// Decides what a simulated model answers: reasoning, text, citations, tool calls and finish reason. Deterministic,
// without side effects, and independent of wire formats.
import type { JsonValue } from '../src/base/json/index.ts';
import type { SimTraits } from './models.ts';
import type { Citation, Question, Segment, SimAnswer, SimCall, SimFinish, SimTool } from './question.ts';
import { asksToRefuse, reasoningText, REFUSAL, replyText, toolReport } from './reply-text.ts';
import { fillSchema, hintsOf } from './schema-filler.ts';
import type { Hints } from './schema-filler.ts';
import { scriptedCalls } from './script.ts';
import { CHARS_PER_TOKEN, clip, textTokens } from './tokens.ts';

/** Characters of a prompt that are searched for tool names. Limited, because both can be long. */
const LOOKED_AT = 20_000;

export interface ThinkOptions {
  /** Stops in the middle, as if a limit or filter applied. */
  readonly stopEarly?: 'length' | 'content_filter' | undefined;
  /** Minimum length of the text, so that a stream can be cut there. */
  readonly leastChars: number;
  /** Repeats the prefill at the beginning of the answer. */
  readonly repeatPrefill?: boolean | undefined;
}

/** Answer to a question. Equal questions have equal answers. */
export function think(question: Question, traits: SimTraits, options: ThinkOptions): SimAnswer {
  const reasoningTokens = reasoningShare(question);
  const reasoning =
    reasoningTokens > 0
      ? {
          text: reasoningText(question.userText, reasoningTokens),
          redacted: /redact/i.test(question.userText),
        }
      : null;
  const refusal = traits.replies === 'full' && asksToRefuse(question.userText);
  const calls = refusal || traits.replies === 'echo' ? [] : chooseCalls(question);
  const searches = question.webSearch && calls.length === 0 && question.toolResults.length === 0;
  const search = searches && !refusal ? searchFor(question.userText) : null;
  const composed = refusal
    ? [{ text: REFUSAL }]
    : compose(question, traits, calls, search, options.leastChars);
  const whole = afterPrefill(composed, question.prefill, options.repeatPrefill === true);
  const cut = cutShort(whole, question, reasoningTokens, options.stopEarly);
  const usedCalls = cut.finish === 'stop' ? calls : [];
  return {
    reasoning,
    search,
    segments: cut.segments,
    refusal: refusal && cut.finish === 'stop',
    calls: usedCalls,
    finish:
      cut.finish !== 'stop' ? cut.finish : refusal ? 'refusal' : usedCalls.length > 0 ? 'tool_calls' : 'stop',
    stopSequence: cut.stopSequence,
    textTokens: Math.max(
      1,
      tokensOf(cut.segments) + usedCalls.reduce((sum, call) => sum + 2 + textTokens(call.arguments), 0),
    ),
    reasoningTokens,
  };
}

/** Reasoning takes at most half of the output limit, to leave some for the answer. */
function reasoningShare(question: Question): number {
  const half = question.maxTokens === null ? Infinity : Math.floor(question.maxTokens / 2);
  return Math.min(question.reasoningTokens, half);
}

function compose(
  question: Question,
  traits: SimTraits,
  calls: readonly SimCall[],
  search: SimAnswer['search'],
  leastChars: number,
): Segment[] {
  const { userText } = question;
  if (calls.length > 0) {
    return /\bexplain\b/i.test(userText)
      ? [{ text: `I will use ${calls.map((call) => call.name).join(' and ')}.` }]
      : [];
  }
  if (traits.replies === 'echo') return padded([{ text: userText }], leastChars);
  if (question.format) return [{ text: JSON.stringify(formatted(question)) }];
  if (question.toolResults.length > 0)
    return padded([{ text: toolReport(question.toolResults) }], leastChars);
  const reply = replyText(userText, question.turn, question.images, question.files);
  if (!search) return padded([{ text: reply }], leastChars);
  const cited = search.results.map((citation): Segment => ({
    text: `${citation.title} says: ${citation.quote}`,
    citation,
  }));
  return padded(
    [
      { text: `${reply} ` },
      ...cited.flatMap((segment, i) => (i === 0 ? [segment] : [{ text: ' ' }, segment])),
    ],
    leastChars,
  );
}

/** Rest of a prefilled answer, or all of it if the prefill is different text. */
function afterPrefill(segments: Segment[], prefill: string, repeat: boolean): Segment[] {
  if (prefill === '') return segments;
  const text = segments.map((segment) => segment.text).join('');
  let rest: Segment[] = [{ text: ` ${text}` }];
  if (prefill.startsWith(text)) rest = [];
  else if (text.startsWith(prefill)) rest = drop(segments, prefill.length);
  const [next = { text: '' }, ...others] = rest;
  return repeat ? [{ ...next, text: prefill + next.text }, ...others] : rest;
}

function padded(segments: Segment[], leastChars: number): Segment[] {
  const missing = leastChars - lengthOf(segments);
  if (missing <= 0) return segments;
  const filler = ' And so on.';
  return [...segments, { text: filler.repeat(Math.ceil(missing / filler.length)) }];
}

function formatted(question: Question): JsonValue {
  const schema = question.format?.schema;
  const results = question.toolResults.map((result) => result.text).join(' ');
  if (schema) return fillSchema(schema, hintsOf(`${question.userText} ${results}`.trim()));
  return { answer: results || replyText(question.userText, question.turn, question.images, question.files) };
}

interface Cut {
  readonly segments: readonly Segment[];
  readonly finish: Extract<SimFinish, 'stop' | 'stop_sequence' | 'length' | 'content_filter'>;
  readonly stopSequence: string | null;
}

/** Applies stop sequences, the output limit and `stopEarly`, whichever comes first. */
function cutShort(
  segments: readonly Segment[],
  question: Question,
  reasoning: number,
  early: ThinkOptions['stopEarly'],
): Cut {
  const text = segments.map((segment) => segment.text).join('');
  let end = text.length;
  let finish: Cut['finish'] = 'stop';
  let stopSequence: string | null = null;
  for (const sequence of question.stop) {
    const at = sequence === '' ? -1 : text.indexOf(sequence);
    if (at < 0 || at >= end) continue;
    end = at;
    finish = 'stop_sequence';
    stopSequence = sequence;
  }
  const room = question.maxTokens === null ? Infinity : (question.maxTokens - reasoning) * CHARS_PER_TOKEN;
  if (room < end) {
    end = Math.max(0, room);
    finish = 'length';
    stopSequence = null;
  }
  if (early) {
    end = Math.min(end, Math.ceil(text.length / 2));
    finish = early;
    stopSequence = null;
  }
  // Does not split surrogate pairs.
  end = clip(text, end).length;
  return { segments: end === text.length ? segments : take(segments, end), finish, stopSequence };
}

function take(segments: readonly Segment[], chars: number): Segment[] {
  const taken: Segment[] = [];
  for (const segment of segments) {
    if (chars <= 0) break;
    taken.push(segment.text.length <= chars ? segment : { ...segment, text: segment.text.slice(0, chars) });
    chars -= segment.text.length;
  }
  return taken;
}

function drop(segments: readonly Segment[], chars: number): Segment[] {
  const left: Segment[] = [];
  for (const segment of segments) {
    if (segment.text.length > chars) left.push(chars > 0 ? { text: segment.text.slice(chars) } : segment);
    chars = Math.max(0, chars - segment.text.length);
  }
  return left;
}

/** Selects tools to call, and their arguments. */
function chooseCalls(question: Question): SimCall[] {
  const { tools, choice, userText } = question;
  if (tools.length === 0 || choice.type === 'none') return [];
  const scripted = scriptedCalls(question);
  if (scripted) return scripted;
  if (question.toolResults.length > 0) return [];
  if (choice.type === 'auto' && /\b(?:no|without) tools?\b/i.test(userText)) return [];
  const hints = hintsOf(userText);
  return chooseTools(question).map((tool) => callOf(tool, hints));
}

function chooseTools(question: Question): SimTool[] {
  const { tools, choice, userText } = question;
  const text = clip(userText, LOOKED_AT).toLowerCase();
  const several = /\bparallel\b/.test(text);
  if (choice.type === 'tool') {
    const named = tools.filter((tool) => tool.name === choice.name).slice(0, 1);
    return several && question.parallel ? [...named, ...named] : named;
  }
  const mentioned = tools.filter((tool) => mentions(text, tool.name.toLowerCase()));
  let chosen = mentioned;
  if (chosen.length === 0) chosen = tools.slice(0, several ? 2 : 1);
  // Parallel calls with a single tool: calls it twice with different arguments.
  if (several && chosen.length === 1) chosen = [...chosen, ...chosen];
  return question.parallel ? chosen : chosen.slice(0, 1);
}

/** True if the text contains the name as a separate word. `_` and `-` in the name match spaces. */
function mentions(text: string, name: string): boolean {
  return holdsWord(text, name) || holdsWord(text, name.replace(/[_-]+/g, ' '));
}

function holdsWord(text: string, word: string): boolean {
  const at = text.indexOf(word);
  return at >= 0 && !isWordChar(text[at - 1]) && !isWordChar(text[at + word.length]);
}

function isWordChar(c: string | undefined): boolean {
  return c !== undefined && /[\p{L}\p{N}_-]/u.test(c);
}

function callOf(tool: SimTool, hints: Hints): SimCall {
  if (tool.kind === 'custom') return { kind: 'custom', name: tool.name, arguments: hints.text || 'example' };
  return { kind: 'function', name: tool.name, arguments: JSON.stringify(fillSchema(tool.schema, hints)) };
}

/** Invented query and results of a web search. */
function searchFor(prompt: string): { query: string; results: Citation[] } {
  const query = clip(prompt.trim(), 80) || 'nothing';
  return {
    query,
    results: [
      {
        url: 'https://example.com/encyclopedia',
        title: 'The Example Encyclopedia',
        quote: `Much has been written about "${query}".`,
      },
      { url: 'https://example.org/news', title: 'Example News', quote: 'There is nothing new to report.' },
    ],
  };
}

function lengthOf(segments: readonly Segment[]): number {
  return segments.reduce((sum, segment) => sum + segment.text.length, 0);
}

function tokensOf(segments: readonly Segment[]): number {
  return Math.ceil(lengthOf(segments) / CHARS_PER_TOKEN);
}
