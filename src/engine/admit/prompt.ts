// `prompt` in a request: the template's texts and defaults become part of the body, as if the client had sent them.
import { asObject, asString, isJsonObject, type JsonObject, type JsonValue } from '../../base/json/index.ts';
import { renderPrompt, type PromptLibrary } from '../state/prompt-library.ts';

export interface PromptedBody {
  /** The client's own body with the template's defaults. JSON paths in it are the client's. */
  readonly own: JsonObject;
  /** The same with the template's instructions and input prepended. */
  readonly whole: JsonObject;
}

/** True for a body that names a template. A malformed `prompt` does not count; decoding reports it. */
export function namesPrompt(body: unknown): body is JsonObject {
  return isJsonObject(body) && Boolean(asString(asObject(body['prompt'])['id']));
}

/**
 * Fills in the body of a request that names a template. Throws GatewayError: 404 for an unknown template, 400 for an
 * invalid version or variables.
 */
export async function promptedBody(
  body: JsonObject,
  projectId: string,
  library: PromptLibrary,
): Promise<PromptedBody> {
  const prompt = asObject(body['prompt']);
  const asked = { id: asString(prompt['id']) ?? '', version: asString(prompt['version']) || undefined };
  const rendered = await renderPrompt(library, projectId, asked, asObject(prompt['variables']));
  const said = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
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
