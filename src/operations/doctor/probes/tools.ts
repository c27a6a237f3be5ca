// Probes of function calls: required calls, a named function, schema-conforming arguments, parallel tool calls.
import type { FunctionTool } from '../../../canonical/index.ts';
import { isJsonObject, parseJson } from '../../../base/json/index.ts';
import { QUESTION_TOKENS, type Examination } from '../examination.ts';
import { no, unknown, whereTaken, whereVaries, yes, type Probe, type Verdict } from '../probe.ts';
import { callsOf, isRefused, isUnclear, quoted, rejectedWith, wordsOf } from '../read-answer.ts';

/** A function with one string argument. */
export function toolNamed(name: string, argument: string, description: string): FunctionTool {
  return {
    type: 'function',
    name,
    description,
    parameters: {
      type: 'object',
      properties: { [argument]: { type: 'string' } },
      required: [argument],
      additionalProperties: false,
    },
  };
}

const FACT = toolNamed('note_fact', 'fact', 'Notes a fact.');
const PLACE = toolNamed('note_place', 'place', 'Notes the name of a place.');
const WEATHER = toolNamed('get_weather', 'city', 'Gets the weather of one city.');

const TOOLS = 'tools';

const tools: Probe = {
  id: TOOLS,
  title: 'calls tools',
  calls: 1,
  tokens: () => QUESTION_TOKENS,
  async run(examination) {
    const answer = await examination.ask({
      text: 'What is the weather in Paris? Call get_weather.',
      tools: [WEATHER],
    });
    if (isRefused(answer)) return no(rejectedWith(answer));
    if (isUnclear(answer)) return unknown(wordsOf(answer));
    const [call] = callsOf(answer);
    return call ? yes(`called ${quoted(call.name)}`) : unknown(`no call: ${wordsOf(answer)}`);
  },
};

/** Skips a probe if the server does not support tools, because a refusal would say nothing about the details. */
function withTools(
  ask: (examination: Examination) => Promise<Verdict>,
): (examination: Examination) => Promise<Verdict> {
  return (examination) =>
    examination.outcomes.get(TOOLS) === 'no' ? Promise.resolve(no('tools not supported')) : ask(examination);
}

const required: Probe = {
  id: 'tool_required',
  title: 'can require a tool call',
  calls: 2,
  tokens: () => 2 * QUESTION_TOKENS,
  run: withTools(async (examination) => {
    const words = examination.valuesOf('requiredToolChoice');
    let last = '';
    let isCertain = true;
    for (const requiredToolChoice of words) {
      const answer = await examination.ask({
        text: 'Say hello in one word. Call nothing.',
        tools: [FACT],
        toolChoice: { type: 'required' },
        quirks: { requiredToolChoice },
      });
      if (!answer.failure && callsOf(answer).length > 0)
        return yes('calls a tool against the instruction', {
          value: words.length > 1 ? requiredToolChoice : undefined,
          facts: { quirks: { requiredToolChoice } },
        });
      if (isUnclear(answer)) isCertain = false;
      last = isRefused(answer) ? rejectedWith(answer) : `ignored: ${wordsOf(answer)}`;
    }
    return isCertain ? no(last) : unknown(last);
  }),
};

const named: Probe = {
  id: 'tool_named',
  title: 'can require a named tool',
  calls: 1,
  tokens: () => QUESTION_TOKENS,
  run: withTools(async (examination) => {
    const answer = await examination.ask({
      text: 'Note the fact that snow is white.',
      tools: [FACT, PLACE],
      toolChoice: { type: 'tool', kind: 'function', name: PLACE.name },
      quirks: { namedToolChoice: true },
    });
    const facts = (namedToolChoice: boolean) => ({ facts: { quirks: { namedToolChoice } } });
    if (isRefused(answer)) return no(rejectedWith(answer), facts(false));
    if (isUnclear(answer)) return unknown(wordsOf(answer));
    const names = callsOf(answer).map((call) => call.name);
    return names.length > 0 && names.every((name) => name === PLACE.name)
      ? yes('calls the other tool', facts(true))
      : no(`ignored: called ${quoted(names.join(', ')) || 'nothing'}`, facts(false));
  }),
};

const COLOURS: readonly string[] = ['teal-7', 'ochre-9'];
const PAINT: FunctionTool = {
  type: 'function',
  name: 'paint_wall',
  description: 'Paints the wall.',
  parameters: {
    type: 'object',
    properties: { colour: { type: 'string', enum: COLOURS } },
    required: ['colour'],
    additionalProperties: false,
  },
  strict: true,
};

const strict: Probe = {
  id: 'tool_strict',
  title: 'enforces strict arguments',
  suits: whereVaries('strictTools'),
  calls: 1,
  tokens: () => QUESTION_TOKENS,
  run: withTools(async (examination) => {
    const answer = await examination.ask({
      text: 'Call paint_wall with the colour "blue", exactly that.',
      tools: [PAINT],
      quirks: { strictTools: true },
    });
    const facts = (strictTools: boolean) => ({ facts: { quirks: { strictTools } } });
    if (isRefused(answer)) return no(rejectedWith(answer), facts(false));
    const [call] = callsOf(answer);
    if (isUnclear(answer) || !call) return unknown(wordsOf(answer));
    const value = parseJson(call.arguments);
    return isJsonObject(value) && COLOURS.includes(String(value['colour']))
      ? yes('the arguments conform to the schema', facts(true))
      : no(`accepted, but not enforced: ${quoted(call.arguments)}`, facts(false));
  }),
};

const CITIES = 'Call get_weather for Paris and for Rome, in parallel: both calls at once.';

const parallel: Probe = {
  id: 'tool_parallel',
  title: 'parallel tool calls',
  calls: 1,
  tokens: () => QUESTION_TOKENS,
  run: withTools(async (examination) => {
    const answer = await examination.ask({ text: CITIES, tools: [WEATHER] });
    if (isRefused(answer)) return no(rejectedWith(answer));
    if (isUnclear(answer)) return unknown(wordsOf(answer));
    const count = callsOf(answer).length;
    if (count === 0) return unknown(`no call: ${wordsOf(answer)}`);
    return count > 1 ? yes(`${count} calls in one response`) : no('one call instead of two');
  }),
};

const oneAtATime: Probe = {
  id: 'tool_one_at_a_time',
  title: 'can be limited to one call',
  suits: whereTaken('parallelToolCalls'),
  calls: 1,
  tokens: () => QUESTION_TOKENS,
  run: withTools(async (examination) => {
    const answer = await examination.ask({ text: CITIES, tools: [WEATHER], parallelToolCalls: false });
    const facts = (parallelToolCalls: boolean) => ({ facts: { parameters: { parallelToolCalls } } });
    if (isRefused(answer)) return no(rejectedWith(answer), facts(false));
    const count = callsOf(answer).length;
    if (isUnclear(answer) || count === 0) return unknown(wordsOf(answer));
    // Yields no facts: being ignored does no harm, because the gateway enforces it anyway.
    return count === 1
      ? yes('one call', facts(true))
      : no('ignored; the gateway forwards only the first call');
  }),
};

export const toolProbes: readonly Probe[] = [tools, required, named, strict, parallel, oneAtATime];
