// Decodes the texts of a request for routing and records. Everything else keeps only its raw form.
import type { JsonObject, JsonValue } from '../../../base/json/index.ts';
import type { Item, Part, Role } from '../../../canonical/index.ts';
import { asArray, asString, isJsonObject } from '../../../base/json/index.ts';

const PROTOCOL = 'gemini-interactions';
/** Steps that are messages (API reference, `Step`, 2026-11). */
const ROLES: ReadonlyMap<string, Role> = new Map([
  ['user_input', 'user'],
  ['model_output', 'assistant'],
]);
/** Types of content, which can be used in place of a step. */
const CONTENTS: ReadonlySet<string> = new Set(['text', 'image', 'audio', 'video', 'document']);

/** Decodes instructions and input. Unknown forms are skipped, because Google validates them. */
export function decodeConversation(body: JsonObject): readonly Item[] {
  const items: Item[] = [];
  const instruction = asString(body['system_instruction']);
  if (instruction) items.push(message('system', [{ type: 'text', text: instruction }], 'system_instruction'));
  const { input } = body;
  if (typeof input === 'string') items.push(message('user', [{ type: 'text', text: input }], 'input'));
  else if (isJsonObject(input)) items.push(decodeStep(input, 'input'));
  else
    asArray(input).forEach((step, index) => {
      if (isJsonObject(step)) items.push(decodeStep(step, `input[${index}]`));
    });
  return items;
}

function decodeStep(step: JsonObject, path: string): Item {
  const type = asString(step['type']) ?? '';
  const role = ROLES.get(type);
  if (role) return message(role, decodeParts(step['content'], `${path}.content`), path, step);
  if (CONTENTS.has(type)) return message('user', [decodePart(step, path)], path);
  return { type: 'unknown', path, source: { protocol: PROTOCOL, raw: step } };
}

function decodeParts(content: JsonValue | undefined, path: string): readonly Part[] {
  if (typeof content === 'string') return [{ type: 'text', text: content, path }];
  return asArray(content).flatMap((part, index) =>
    isJsonObject(part) ? [decodePart(part, `${path}[${index}]`)] : [],
  );
}

function decodePart(part: JsonObject, path: string): Part {
  const text = part['type'] === 'text' ? asString(part['text']) : undefined;
  const source = { protocol: PROTOCOL, raw: part } as const;
  return text === undefined ? { type: 'unknown', path, source } : { type: 'text', text, path, source };
}

function message(role: Role, parts: readonly Part[], path: string, raw?: JsonObject): Item {
  return { type: 'message', role, parts, path, ...(raw && { source: { protocol: PROTOCOL, raw } }) };
}
