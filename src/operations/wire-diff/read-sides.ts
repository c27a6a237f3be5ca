// Decodes recorded bodies with the codecs of their protocols: requests with the server codec, answers with the upstream
// codec.
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '../../base/json/index.ts';
import {
  type CanonicalRequest,
  type CollectedEvents,
  inputTokens,
  outputTokens,
} from '../../canonical/index.ts';
import { collectAnswer } from '../../engine/index.ts';
import { type CodecContext, findProtocol, type Protocol, type RequestRoute } from '../../protocols/index.ts';
import { rootOf } from './json-path.ts';
import { saidInParameters } from './parameters.ts';
import { type ComparedValue, valuesInItems, valuesInTools } from './compared-values.ts';
import { withPlaces } from './values.ts';

/** A request as one side sent it. */
export interface SentRequest {
  readonly protocol: Protocol['name'];
  /** Members that come from the URL. */
  readonly route: RequestRoute;
  /** UTF-8. */
  readonly body: string;
}

/** An answer as one side received it. */
export interface SentAnswer {
  readonly protocol: Protocol['name'];
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
}

export interface ReadSide {
  readonly body: JsonValue | null;
  /** Null: no codec can read it. */
  readonly said: readonly ComparedValue[] | null;
}

export function readRequest({ protocol, route, body: text }: SentRequest): ReadSide {
  const body = parseJson(text);
  const server = findProtocol(protocol)?.server;
  if (!isJsonObject(body)) return { body: null, said: null };
  const decode = server && ((given: JsonObject): CanonicalRequest => server.decodeRequest(given, route));
  const request = decode && tryTo(() => decode(body));
  if (!decode || !request) return { body, said: null };
  const conversation = [...valuesInItems(request.items, body), ...valuesInTools(request.tools, body)];
  const taken = new Set(conversation.flatMap(({ path }) => (path === null ? [] : rootOf(path))));
  return { body, said: [...saidInParameters({ body, request, taken, decode }), ...conversation] };
}

/** Generated ids and times are irrelevant here. */
const CONTEXT: CodecContext = { newId: (prefix) => prefix, nowSeconds: () => 0 };

export function readAnswer(answer: SentAnswer): ReadSide {
  const { protocol, status, contentType } = answer;
  const text = answer.body.toString();
  const codec = findProtocol(protocol)?.upstream;
  const body = isWhole(contentType) ? (parseJson(text) ?? null) : null;
  if (!codec) return { body, said: null };
  if (status >= 300) {
    const { kind, message } = codec.decodeError(status, () => null, text);
    const said = [unowned('error · kind', kind), unowned('error · message', message)];
    return { body, said: body === null ? said : withPlaces(said, body) };
  }
  const collected = tryTo(() => collectAnswer(codec, { ...framed(answer, body), status }, CONTEXT));
  if (!collected) return { body, said: null };
  const said = valuesInAnswer(collected);
  return { body, said: body === null ? said : withPlaces(said, body) };
}

function valuesInAnswer({ start, items, usage, finish, error }: CollectedEvents): readonly ComparedValue[] {
  return [
    ...(start.model === undefined ? [] : [unowned('model', start.model)]),
    ...valuesInItems(items, null),
    ...(finish ? [{ ...unowned('finish reason', finish.reason), word: finish.raw }] : []),
    ...(usage
      ? [
          unowned('input tokens', inputTokens(usage)),
          unowned('output tokens', outputTokens(usage)),
          unowned('cached tokens', usage.input.cacheRead),
          unowned('reasoning tokens', usage.output.reasoning),
        ]
      : []),
    ...(error ? [unowned('error · message', error.message)] : []),
  ];
}

function unowned(what: string, value: JsonValue): ComparedValue {
  return { what, kind: what, owner: null, value, path: null };
}

function isWhole(contentType: string): boolean {
  return contentType.startsWith('application/json');
}

/** Splits a stream into events. Gemini's streams may also be one JSON array, whose elements are the events. */
function framed(
  { contentType, body }: SentAnswer,
  json: JsonValue | null,
): Pick<SentAnswer, 'contentType' | 'body'> {
  if (!isJsonArray(json)) return { contentType, body };
  const events = json.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('');
  return { contentType: 'text/event-stream', body: Buffer.from(events) };
}

/** Result, or undefined if it throws, because recorded bodies may be invalid. */
function tryTo<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Text of an answer; null: unreadable, or only a failure. */
export function answerText(answer: SentAnswer): string | null {
  const { said } = readAnswer(answer);
  if (said === null || answer.status >= 300) return null;
  return said
    .filter(({ kind }) => ANSWERS.has(kind))
    .map(({ kind, value, what }) =>
      kind === 'arguments' ? `${what.replace(' · arguments', '')}: ${JSON.stringify(value)}` : String(value),
    )
    .join('\n');
}

/** Kinds of visible text, without reasoning and ids. */
const ANSWERS: ReadonlySet<string> = new Set(['text', 'refusal', 'arguments']);
