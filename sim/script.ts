// Tool calls that a prompt spells out, so that a real agent can be led through a task of several steps. Knows neither
// the wire formats nor how the other calls are chosen.
import { isJsonObject, type JsonValue } from '../src/base/json/index.ts';
import type { Question, SimCall, SimTool } from './question.ts';
import { clip } from './tokens.ts';

/** Characters of a prompt in which steps are looked for. */
const LOOKED_AT = 20_000;

/**
 * The call that is due, when the prompt holds lines of the form `call NAME {…}`: one line after the other, each after
 * the result of the one before.
 * @returns an empty list after the last step; null when the prompt spells out nothing that can be called
 */
export function scriptedCalls(question: Question): SimCall[] | null {
  const steps: SimCall[] = [];
  const lines = clip(question.userText, LOOKED_AT).matchAll(/^[ \t]*call (\S{1,128}) (\{.*\}|".*")[ \t]*$/gm);
  for (const [, name = '', text = ''] of lines) {
    const tool = question.tools.find((offered) => offered.name === name);
    const call = tool && readCall(tool, text);
    if (call) steps.push(call);
  }
  return steps.length === 0 ? null : steps.slice(question.step, question.step + 1);
}

/** An object for a function, a string for a custom tool; anything else is no step. */
function readCall(tool: SimTool, text: string): SimCall | null {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    return null;
  }
  if (tool.kind === 'custom')
    return typeof value === 'string' ? { kind: 'custom', name: tool.name, arguments: value } : null;
  return isJsonObject(value) ? { kind: 'function', name: tool.name, arguments: JSON.stringify(value) } : null;
}
