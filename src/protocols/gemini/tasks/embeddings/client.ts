// Decodes `embedContent` and `batchEmbedContents` of clients, and encodes the answer.
import {
  asArray,
  asObject,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type MutableJsonObject,
  unknownMembers,
} from '../../../../base/json/index.ts';
import { inputTokens, Problems, Report, TEXTS } from '../../../../canonical/index.ts';
import { decodeGatewayOptions } from '../../../members/gateway-options.ts';
import type { RequestRoute } from '../../../protocol.ts';
import {
  type DecodedTask,
  type TaskAnswer,
  type TaskClient,
  taskRequest,
} from '../../../codec/task-codec.ts';
import type { EmbeddingNote, Embeddings, EmbeddingsRequest } from '../../../tasks/embeddings/model.ts';
import {
  describe,
  POSITIVE,
  readBoolean,
  readNumber,
  readObject,
  readString,
  requireBody,
} from '../../../members/read-member.ts';
import { methodRoutes } from '../../addresses.ts';
import { camelMembers } from '../../camel-members.ts';
import { z } from 'zod';
import type { RouteDescription } from '../../../../base/lib/route-description.ts';
import { anyObject } from '../../../members/described-shapes.ts';
import { ofModel } from '../../described-methods.ts';
import { GATEWAY } from '../../fields.ts';

/** The same maximum as for OpenAI's clients. Larger ones than an upstream accepts are split into several requests. */
const MOST_REQUESTS = 2048;

/** Both methods. */
export const client: TaskClient<EmbeddingsRequest, Embeddings> = {
  protocol: 'gemini',
  routes: methodRoutes(
    {
      embedContent: { api: 'embeddings', does: 'embeddings', stream: false },
      batchEmbedContents: { api: 'embeddings', does: 'embeddings', stream: false, batch: true },
    },
    describeEmbeddings,
  ),
  decodeRequest,
};

/** One input with its settings. */
interface Entry {
  readonly text: string;
  readonly dimensions: number | undefined;
  readonly purpose: string | undefined;
  readonly note: EmbeddingNote;
}

/** Decodes the body of either method. @throws GatewayError `invalid_request` naming every invalid member */
function decodeRequest(sent: unknown, route: RequestRoute = {}): DecodedTask<EmbeddingsRequest, Embeddings> {
  const problems = new Problems();
  const body = requireBody(sent, problems);
  const report = new Report();
  const isBatch = route.batch === true;
  const given = camelMembers(body);
  const model =
    (route.model ?? readString(given['model'], 'model', problems))?.replace(/^models\//, '') ?? '';
  if (model === '') problems.add('model', 'is required');
  const entries = isBatch
    ? decodeBatch(given['requests'], problems, report)
    : [decodeEntry(given, '', LONE_EMBEDDING_FIELDS, problems, report)];
  if (isBatch)
    for (const name in unknownMembers(given, EMBEDDING_BATCH_FIELDS))
      report.add(name, 'dropped', 'batches do not support this field');
  const gateway = decodeGatewayOptions(body, problems, report);
  problems.throwIfAny();
  const request = taskRequest({ protocol: 'gemini', raw: body, model, gateway, report });
  return { request, asked: inRuns(entries), encode: (answer) => encodeAnswer(answer, isBatch) };
}

function decodeBatch(value: JsonValue | undefined, problems: Problems, report: Report): readonly Entry[] {
  const requests = asArray(value);
  if (requests.length === 0) problems.add('requests', 'must be a list of at least one request');
  if (requests.length > MOST_REQUESTS) {
    problems.add('requests', TEXTS.tooManyElements(MOST_REQUESTS, requests.length));
    return [];
  }
  return requests.map((request, index) => {
    if (!isJsonObject(request)) problems.add(`requests[${index}]`, TEXTS.mustBeObject(describe(request)));
    return decodeEntry(
      camelMembers(asObject(request)),
      `requests[${index}].`,
      EMBEDDING_FIELDS,
      problems,
      report,
    );
  });
}

function decodeEntry(
  given: JsonObject,
  path: string,
  known: ReadonlySet<string>,
  problems: Problems,
  report: Report,
): Entry {
  const extra: MutableJsonObject = {};
  keepFlags({ given, known, path }, extra, report);
  const below = readObject(given['embedContentConfig'], `${path}embedContentConfig`, problems);
  const config = below ? camelMembers(below) : {};
  const inConfig: MutableJsonObject = {};
  keepFlags(
    { given: config, known: EMBEDDING_SETTING_FIELDS, path: `${path}embedContentConfig.` },
    inConfig,
    report,
  );
  const read = (name: (typeof EMBEDDING_SETTINGS)[number]): [JsonValue | undefined, string] =>
    config[name] === undefined
      ? [given[name], path + name]
      : [config[name], `${path}embedContentConfig.${name}`];
  const cut = readBoolean(...read('autoTruncate'), problems);
  if (cut !== undefined) inConfig['autoTruncate'] = cut;
  if (Object.keys(inConfig).length > 0) extra['embedContentConfig'] = inConfig;
  const { text, isJoined, foreign, content } = decodeContent(given['content'], `${path}content`, problems);
  return {
    text,
    dimensions: readNumber(...read('outputDimensionality'), problems, POSITIVE),
    purpose: purposeOf(readString(...read('taskType'), problems)),
    note: {
      path,
      title: readString(...read('title'), problems) || undefined,
      isJoined,
      foreign,
      extra,
      source: { protocol: 'gemini', raw: content },
    },
  };
}

/**
 * Keeps unknown booleans and numbers for Google. Strings are dropped, because they could name objects of the operator.
 */
function keepFlags(
  { given, known, path }: { given: JsonObject; known: ReadonlySet<string>; path: string },
  kept: MutableJsonObject,
  report: Report,
): void {
  const unknown = unknownMembers(given, known);
  for (const name in unknown) {
    const value = unknown[name];
    if (typeof value === 'boolean' || typeof value === 'number') kept[name] = value;
    else if (value !== null && value !== undefined)
      report.add(path + name, 'dropped', TEXTS.unknownToGateway);
  }
}

/** Treats Google's value for an unspecified purpose as absent. */
function purposeOf(taskType: string | undefined): string | undefined {
  return taskType === 'TASK_TYPE_UNSPECIFIED' || taskType === '' ? undefined : taskType;
}

interface Content extends Pick<EmbeddingNote, 'isJoined' | 'foreign'> {
  readonly text: string;
  readonly content: JsonObject;
}

/** Decodes content. "Only the parts.text fields will be counted", and bytes by multimodal models. */
function decodeContent(value: JsonValue | undefined, path: string, problems: Problems): Content {
  const content = readObject(value, path, problems);
  if (!content) {
    problems.add(path, 'is required');
    return { text: '', isJoined: false, foreign: undefined, content: {} };
  }
  const texts: string[] = [];
  let foreign: string | undefined;
  const parts = asArray(content['parts']);
  for (const [index, part] of parts.entries()) {
    const at = `${path}.parts[${index}]`;
    const members = camelMembers(asObject(part));
    const text = readString(members['text'], `${at}.text`, problems);
    if (text !== undefined) texts.push(text);
    else if (isJsonObject(members['inlineData'])) foreign ??= `${at}.inlineData`;
    else problems.add(at, 'must contain text or inlineData');
  }
  const text = texts.join('\n');
  if (text === '' && foreign === undefined) problems.add(`${path}.parts`, 'must contain text');
  return { text, isJoined: texts.length > 1, foreign, content: { parts } };
}

/** Groups adjacent inputs with equal settings into one request, because its settings apply to all inputs. */
function inRuns(entries: readonly Entry[]): readonly EmbeddingsRequest[] {
  const runs: Entry[][] = [];
  for (const entry of entries) {
    const run = runs.at(-1);
    const [first] = run ?? [];
    if (run && first?.dimensions === entry.dimensions && first?.purpose === entry.purpose) run.push(entry);
    else runs.push([entry]);
  }
  return runs.map((run) => ({
    inputs: run.map(({ text }) => text),
    format: 'float',
    dimensions: run[0]?.dimensions,
    purpose: run[0]?.purpose,
    notes: run.map(({ note }) => note),
    user: undefined,
    extra: {},
  }));
}

/** Encodes the body of the answer (API reference, `EmbedContentResponse`, `BatchEmbedContentsResponse`, 2026-11). */
function encodeAnswer({ made, usage, costUsd }: TaskAnswer<Embeddings>, isBatch: boolean): JsonObject {
  const embeddings = made.vectors.map((values) => ({ values }));
  const { promptTokensDetails } = asObject(usage.raw);
  const usageMetadata = {
    promptTokenCount: inputTokens(usage),
    ...(promptTokensDetails === undefined ? {} : { promptTokensDetails }),
    ...(costUsd === undefined ? {} : { cost: costUsd }),
  };
  return isBatch ? { embeddings, usageMetadata } : { embedding: embeddings[0] ?? null, usageMetadata };
}

// API description of both methods.

/** Describes the methods, each below a model id in the path. */
function describeEmbeddings(): readonly RouteDescription[] {
  const embedding = z.looseObject({ values: z.array(z.number()) });
  const content = z.looseObject({ parts: z.array(anyObject) });
  const text = { content: { parts: [{ text: 'a text' }] } };
  const embeds = ofModel('sim%2Fembed');
  return [
    {
      ...embeds,
      id: 'embedContent',
      path: '/v1beta/models/{model}:embedContent',
      summary: 'Creates an embedding of a text.',
      body: z.looseObject({ content }),
      bodyExample: text,
      answer: z.looseObject({ embedding }),
    },
    {
      ...embeds,
      id: 'batchEmbedContents',
      path: '/v1beta/models/{model}:batchEmbedContents',
      summary: 'Creates embeddings of several texts.',
      body: z.looseObject({ requests: z.array(z.looseObject({ content })) }),
      bodyExample: { requests: [{ model: 'models/sim/embed', ...text }] },
      answer: z.looseObject({ embeddings: z.array(embedding) }),
    },
  ];
}

// Members of the bodies of `embedContent` and `batchEmbedContents`.

/** Settings of embeddings, in the request itself or in `embedContentConfig`. */
const EMBEDDING_SETTINGS = ['taskType', 'title', 'outputDimensionality', 'autoTruncate'] as const;

/** Members of `embedContentConfig`. */
const EMBEDDING_SETTING_FIELDS: ReadonlySet<string> = new Set(EMBEDDING_SETTINGS);

/** Members of an `EmbedContentRequest` in a batch (API reference, "Embeddings", 2026-11). */
const EMBEDDING_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'content',
  'embedContentConfig',
  ...EMBEDDING_SETTINGS,
]);

/** Members of an `EmbedContentRequest` that is a body of its own. */
const LONE_EMBEDDING_FIELDS: ReadonlySet<string> = new Set([...EMBEDDING_FIELDS, ...GATEWAY]);

/** Members of a batch. */
const EMBEDDING_BATCH_FIELDS: ReadonlySet<string> = new Set(['model', 'requests', ...GATEWAY]);
