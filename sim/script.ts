// Tool calls written out in a prompt, to guide a real agent through a task with several steps.
import { isJsonObject, type JsonValue } from '../src/base/json/index.ts';
import type { Question, SimCall, SimTool } from './question.ts';
import { clip } from './tokens.ts';

/** Characters of a prompt that are searched for calls. */
const LOOKED_AT = 20_000;

/**
 * Next call of a prompt with lines of the form `call NAME {…}`. Each line is due after the result of the previous
 * one.
 * @returns an empty list after the last call; null if the prompt contains none
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

/** The call of a line: an object for a function, a string for a custom tool. `null`: neither. */
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
