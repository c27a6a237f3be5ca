// `POST /embeddings` for clients of OpenAI's API. It belongs to no chat protocol, so it is in this folder.
import { z } from 'zod';
import { isJsonArray, type JsonObject, type JsonValue, unknownMembers } from '../../../../base/json/index.ts';
import { inputTokens, Problems, Report, TEXTS } from '../../../../canonical/index.ts';
import { decodeGatewayOptions } from '../../../members/gateway-options.ts';
import {
  type DecodedTask,
  type TaskAnswer,
  type TaskClient,
  taskRequest,
} from '../../../codec/task-codec.ts';
import type { EmbeddingInput, Embeddings, EmbeddingsRequest } from '../../../tasks/embeddings/model.ts';
import type { ClientDescription } from '../../../protocol.ts';
import { listShape } from '../../described-shapes.ts';
import {
  describe,
  type Member,
  POSITIVE,
  readNumber,
  readString,
  requireBody,
  requireString,
} from '../../../members/read-member.ts';
import { readForm } from './vector-words.ts';

/** Maximum length of the input list (API reference, 2026-11). The maximum tokens per input depend on the model. */
const LONGEST_LIST = 2048;

const KNOWN_MEMBERS: ReadonlySet<string> = new Set([
  'input',
  'model',
  'encoding_format',
  'dimensions',
  'user',
  'provider',
  'model_routing_config',
  'models',
  'usage',
]);

/** The operation at the addresses of Chat Completions. */
export const client: TaskClient<EmbeddingsRequest, Embeddings> = {
  protocol: 'openai-chat',
  routes: [{ path: '/embeddings', operation: { api: 'embeddings', does: 'embeddings' }, describes }],
  decodeRequest,
};

/** Decodes a parsed body. @throws GatewayError `invalid_request` naming every invalid member */
function decodeRequest(given: unknown): DecodedTask<EmbeddingsRequest, Embeddings> {
  const problems = new Problems();
  const body = requireBody(given, problems);
  const report = new Report();
  const model = requireString(body['model'], 'model', problems) ?? '';
  const asked: EmbeddingsRequest = {
    inputs: decodeInputs(body['input'], problems),
    ...readForm(body, problems),
    dimensions: readNumber(body['dimensions'], 'dimensions', problems, POSITIVE),
    user: readString(body['user'], 'user', problems),
    extra: unknownMembers(body, KNOWN_MEMBERS) ?? {},
  };
  const gateway = decodeGatewayOptions(body, problems, report);
  problems.throwIfAny();
  const endUser = asked.user || undefined;
  const request = taskRequest({ protocol: 'openai-chat', raw: body, model, gateway, report, endUser });
  return { request, asked: [asked], encode: encodeAnswer };
}

/** Decodes a text, token ids, or a list of either; all of one kind. */
function decodeInputs(value: Member, problems: Problems): readonly EmbeddingInput[] {
  if (!isJsonArray(value)) {
    const text = requireString(value, 'input', problems);
    return text === undefined ? [] : [text];
  }
  if (value.length > LONGEST_LIST) {
    problems.add('input', TEXTS.tooManyElements(LONGEST_LIST, value.length));
    return [];
  }
  const [first] = value;
  if (first === undefined || typeof first === 'number') return [decodeTokens(value, 'input', problems)];
  const isText = typeof first === 'string';
  return value.map((element, index) => {
    const path = `input[${index}]`;
    if (isText) return requireString(element, path, problems) ?? '';
    if (isJsonArray(element)) return decodeTokens(element, path, problems);
    problems.add(path, `must be a list of tokens, not ${describe(element)}`);
    return '';
  });
}

function decodeTokens(tokens: readonly JsonValue[], path: string, problems: Problems): readonly number[] {
  if (tokens.length === 0) problems.add(path, 'must not be empty');
  const at = tokens.findIndex((token) => !isToken(token));
  if (at >= 0) problems.add(`${path}[${at}]`, 'must be a token id: an integer of at least 0');
  return tokens.filter(isToken);
}

function isToken(value: JsonValue): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

function describes(): ClientDescription {
  return {
    id: 'createEmbeddings',
    tag: 'Embeddings',
    summary: 'Creates embeddings of texts.',
    body: z.looseObject({
      model: z.string().min(1),
      input: z.unknown().describe('A text, a list of texts, or tokens.'),
      dimensions: z.unknown().optional().describe('A positive integer.'),
      encoding_format: z.unknown().optional().describe('`float` or `base64`.'),
    }),
    bodyExample: { model: 'sim/embed', input: ['a text', 'another'] },
    answer: listShape(
      z.looseObject({
        object: z.literal('embedding'),
        index: z.int(),
        embedding: z.union([z.array(z.number()), z.string()]),
      }),
    ),
  };
}

// Answer of `POST /embeddings` in OpenAI's form. The vectors already have the requested format.

/** Encodes the body of the answer (API reference, "The embedding object", 2026-11), with the cost in `usage.cost`. */
function encodeAnswer({ made, model, usage, costUsd }: TaskAnswer<Embeddings>): JsonObject {
  const tokens = inputTokens(usage);
  return {
    object: 'list',
    data: made.vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
    model,
    usage: {
      prompt_tokens: tokens,
      total_tokens: tokens,
      ...(costUsd === undefined ? {} : { cost: costUsd }),
    },
  };
}
