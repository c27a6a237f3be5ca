// Encodes the body of a `generateContent` request, streamed or not: model and mode are in the path.
import type { JsonObject, JsonValue, MutableJsonObject } from '../../../base/json/index.ts';
import type { CanonicalRequest, Report, Target } from '../../../canonical/index.ts';
import { asObject } from '../../../base/json/index.ts';
import { GatewayError } from '../../../canonical/index.ts';
import { dropEndUser } from '../../end-user.ts';
import { reportPrefill } from '../../content/prefill.ts';
import { encodeConversation } from './encode-conversation.ts';
import { encodeGenerationConfig } from './encode-generation-config.ts';
import { encodeTools } from './encode-tools.ts';

/**
 * Encodes the upstream body.
 * @throws GatewayError `unsupported` naming the path, for content that Gemini does not accept
 */
export function encodeRequest(request: CanonicalRequest, target: Target, report: Report): JsonObject {
  if (request.prefill && target.quirks.prefill === 'none') reportPrefill(request, report);
  const scope = { target, report };
  const { system, contents } = encodeConversation(request.items, scope);
  const { tools, config, hasFunctions } = encodeTools(request, scope);
  const generationConfig = encodeGenerationConfig(request, hasFunctions, scope);

  const body: MutableJsonObject = { contents: contents.map(({ role, parts }) => ({ role, parts })) };
  if (system.length > 0) body['systemInstruction'] = { parts: system };
  if (tools.length > 0) body['tools'] = tools;
  if (config !== undefined) body['toolConfig'] = config;
  if (generationConfig !== undefined) body['generationConfig'] = generationConfig;
  dropEndUser(request, 'Gemini does not support user ids', report);
  encodeExtra(request, target, body, report);
  return body;
}

/**
 * Returns the path of a model's method below the base URL. A name with a collection (`tunedModels/x`) is unchanged.
 * @param model the upstream's own name, which clients may have chosen
 * @throws GatewayError `not_found` for a name that would change the path
 */
export function methodPath(model: string, method: string): string {
  const isWhole = /^(models|tunedModels|publishers)\//.test(model);
  const segments = (isWhole ? model : `models/${model}`).split('/');
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..'))
    throw new GatewayError('not_found', 'No model has this name.', { param: 'model' });
  return `/${segments.map(encodeURIComponent).join('/')}:${method}`;
}

/**
 * Returns the path of an answer (API reference, "Generating content", 2026-11). Without `alt=sse`, a stream is one JSON
 * array.
 */
export function pathFor(model: string, stream: boolean): string {
  return stream
    ? `${methodPath(model, 'streamGenerateContent')}?alt=sse`
    : methodPath(model, 'generateContent');
}

/** Copies members without a canonical form, only to upstreams of the client's own protocol. Their names are paths. */
function encodeExtra(
  request: CanonicalRequest,
  target: Target,
  body: MutableJsonObject,
  report: Report,
): void {
  const passes = request.protocol === 'gemini' && target.quirks.unknownFields === 'pass';
  for (const key in request.extra) {
    if (passes) setMember(body, key, request.extra[key]);
    else report.add(key, 'dropped', 'Gemini does not support this field');
  }
}

/** Members that are named by their paths, such as `generationConfig.speechConfig`. */
const NESTED = /^(?:generationConfig|toolConfig)\./;

/** Sets `a.b.c`. The intermediate objects belong to the encoder. */
function setMember(body: MutableJsonObject, path: string, value: JsonValue | undefined): void {
  const names = NESTED.test(path) ? path.split('.') : [path];
  const last = names.pop() ?? path;
  let at = body;
  for (const name of names) {
    const inner: MutableJsonObject = asObject(at[name]) === at[name] ? (at[name] as MutableJsonObject) : {};
    at[name] = inner;
    at = inner;
  }
  at[last] = value;
}
