// Decodes function calls and function responses of a conversation. Their ids may be absent.
import type { JsonObject } from '../../../base/json/index.ts';
import type { Item, Part, Problems, Source } from '../../../canonical/index.ts';
import { asString, isJsonObject } from '../../../base/json/index.ts';
import type { CallMatcher } from '../../calls/call-ids.ts';
import {
  readArray,
  readObject,
  readString,
  requireObject,
  requireString,
} from '../../members/read-member.ts';
import type { Member } from '../../members/read-member.ts';
import { camelMembers } from '../camel-members.ts';
import { decodeMedia } from './decode-media.ts';

/** Reads the members that calls and responses share, in one spelling; undefined, with a problem, if it is not an object. */
function readNamed(
  value: Member,
  path: string,
  problems: Problems,
):
  | { readonly raw: JsonObject; readonly name: string | undefined; readonly id: string | undefined }
  | undefined {
  const given = requireObject(value, path, problems);
  if (!given) return undefined;
  const raw = camelMembers(given);
  const name = requireString(raw['name'], `${path}.name`, problems);
  return { raw, name, id: readString(raw['id'], `${path}.id`, problems) || undefined };
}

/** Decodes a `functionCall`; undefined, with a problem, if it is invalid. @param source the whole part */
export function decodeCall(
  value: Member,
  path: string,
  source: Source,
  matcher: CallMatcher,
  problems: Problems,
): Item | undefined {
  const named = readNamed(value, path, problems);
  const args = readObject(named?.raw['args'], `${path}.args`, problems) ?? {};
  if (named?.name === undefined) return undefined;
  const { name } = named;
  const callId = matcher.call(named.id, name);
  return {
    type: 'tool_call',
    kind: 'function',
    callId,
    ...(named.id === undefined ? { isIdMade: true } : {}),
    name,
    arguments: JSON.stringify(args),
    path,
    source,
  };
}

/** Decodes a `functionResponse`, including its media `parts`; undefined, with a problem, if it is invalid. */
export function decodeResult(
  value: Member,
  path: string,
  source: Source,
  matcher: CallMatcher,
  problems: Problems,
): Item | undefined {
  const named = readNamed(value, path, problems);
  const response = readObject(named?.raw['response'], `${path}.response`, problems) ?? {};
  if (named?.name === undefined) return undefined;
  const { raw, name, id } = named;
  const media: Part[] = [];
  readArray(raw['parts'], `${path}.parts`, problems)?.forEach((element, index) => {
    const at = `${path}.parts[${index}]`;
    const part = requireObject(element, at, problems);
    const decoded = part && decodeMedia(camelMembers(part), at, { protocol: 'gemini', raw: part }, problems);
    if (decoded) media.push(decoded);
  });
  const { text, isError } = readResponse(response, name);
  const isBare = media.length > 0 && Object.keys(response).length === 0;
  const parts: readonly Part[] = isBare
    ? media
    : [{ type: 'text', text, path: `${path}.response` }, ...media];
  const callId = matcher.result(id, name) ?? matcher.make();
  return {
    type: 'tool_result',
    kind: 'function',
    callId,
    name,
    parts,
    isError: isError || undefined,
    path,
    source,
  };
}

/** Members in which clients wrap a text: Google's own, and those of SDKs (recorded 2026). */
const WRAPPERS: ReadonlySet<string> = new Set(['output', 'result', 'return_value', 'content', 'error']);

/** Returns the content of a response: the text that it wraps, otherwise the object itself. */
function readResponse(
  response: JsonObject,
  name: string,
): { readonly text: string; readonly isError: boolean } {
  // The AI SDK adds the function's name to the content.
  const keys = Object.keys(response).filter((key) => key !== 'name' || response['name'] !== name);
  const [only] = keys;
  if (only === undefined || keys.length > 1 || !WRAPPERS.has(only))
    return { text: JSON.stringify(response), isError: false };
  const value = response[only];
  const text = asString(value);
  if (text !== undefined) return { text, isError: only === 'error' };
  return { text: JSON.stringify(isJsonObject(value) ? value : response), isError: only === 'error' };
}
