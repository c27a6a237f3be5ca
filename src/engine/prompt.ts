// `prompt` in a request: the template's texts and defaults become part of the body, as if the client had written them.
import { asString, isJsonObject, type JsonObject, type JsonValue } from '../canonical/index.ts';
import { renderPrompt } from '../state/prompt-library.ts';
import type { ApiCall } from './call.ts';
import type { GatewayDependencies } from './dependencies.ts';
import type { Generation } from './generation.ts';

export interface PromptedBody {
  /** The client's own words with the template's defaults: paths in it are the client's. */
  readonly own: JsonObject;
  /** The same with the template's instructions and input in front. */
  readonly whole: JsonObject;
}

/** True for a request that may name a template. */
export function namesPrompt({ json, protocol }: ApiCall): boolean {
  return protocol.server.items !== undefined && isJsonObject(json) && isJsonObject(json['prompt']);
}

/**
 * The body of a request that names a template; null for any other, and for one whose `prompt` is malformed, which
 * decoding will say.
 * Throws GatewayError: 404 for an unknown template, 400 for a version or variables that do not fit.
 */
export async function promptedBody(
  generation: Generation,
  deps: GatewayDependencies,
): Promise<PromptedBody | null> {
  const { json, protocol, principal } = generation.call;
  if (!protocol.server.items || !isJsonObject(json)) return null;
  const { prompt } = json;
  const id = isJsonObject(prompt) ? asString(prompt['id']) : undefined;
  if (!isJsonObject(prompt) || !id) return null;
  const variables = isJsonObject(prompt['variables']) ? prompt['variables'] : {};
  const version = asString(prompt['version']) || undefined;
  const rendered = await renderPrompt(deps.prompts, principal.keyId, { id, version }, variables);
  const said = Object.fromEntries(Object.entries(json).filter(([, value]) => value !== null));
  const own: JsonObject = { ...rendered.defaults, ...said };
  const input = [...rendered.input, ...messages(own['input'])];
  return {
    own,
    whole: {
      ...own,
      ...(input.length > 0 ? { input } : {}),
      ...(own['instructions'] === undefined && rendered.instructions !== undefined
        ? { instructions: rendered.instructions }
        : {}),
    },
  };
}

function messages(input: JsonValue | undefined): readonly JsonValue[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }];
  return Array.isArray(input) ? input : [];
}
