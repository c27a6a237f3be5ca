// Addresses of the Messages API for clients, and the signs by which its clients and bodies are recognized.
import { TEXTS } from '../../canonical/index.ts';
import { z } from 'zod';
import type { NamedShape } from '../../base/lib/route-description.ts';
import { bodyOf, eventStream } from '../members/described-shapes.ts';
import type { ClientAddresses, ClientDescription, UnservedPart } from '../protocol.ts';
import { encodeModel, encodeModelPage } from './encode-model-list.ts';
import { REQUEST_FIELDS } from './fields.ts';

/** Sent with every request by Anthropic's own libraries. */
const VERSION_HEADER = 'anthropic-version';
const OWN_BASE = '/api/anthropic/';

function below(names: string, nearest: string): UnservedPart {
  return { match: new RegExp(`^/(?:api/)?(?:anthropic/)?(?:v1/)?(?:${names})(?:/|$)`), nearest };
}

/** The rest of Anthropic's API (according to its libraries, 2026-11). */
const UNSERVED: readonly UnservedPart[] = [
  below('complete', 'Use `POST /v1/messages`.'),
  below('organizations', TEXTS.managementHas),
  below(
    'agents|sessions|environments|deployments|deployment_runs|dreams|memory_stores|skills|tunnels|user_profiles|vaults',
    TEXTS.askProvider,
  ),
];

/** Schema of the errors that `encode-error.ts` writes. */
const ERROR_SHAPE: NamedShape = {
  name: 'AnthropicError',
  schema: z.object({
    type: z.literal('error'),
    error: z.object({ type: z.string(), message: z.string() }),
    request_id: z.string().nullable().optional(),
  }),
};
const MODEL_SHAPE = z.looseObject({ type: z.literal('model'), id: z.string() });

export const ADDRESSES: ClientAddresses = {
  bases: [`${OWN_BASE}v1`],
  routes: [{ path: '/messages', operation: { api: 'messages', does: 'answer' }, describes: describeMessage }],
  unserved: UNSERVED,
  isClient: ({ header, url }) => header(VERSION_HEADER) !== null || url.pathname.startsWith(OWN_BASE),
  // Chat Completions also has `messages` and `max_tokens`, but no such header and no `system` member.
  looksOwn: (body, header) =>
    Object.hasOwn(body, 'messages') &&
    (header(VERSION_HEADER) !== null || (Object.hasOwn(body, 'max_tokens') && Object.hasOwn(body, 'system'))),
  errors: ERROR_SHAPE,
  models: {
    paths: [],
    encodeList: encodeModelPage,
    encodeModel,
    shapes: { list: z.looseObject({ data: z.array(MODEL_SHAPE) }), model: MODEL_SHAPE },
  },
};

/** Tag and texts that the descriptions of several operations share. */
export const tag = 'Messages';
export const model = z.string().min(1);
export const messages = z.array(z.looseObject({ role: z.string() })).min(1);
export const bodyExample = {
  model: 'sim/messages',
  messages: [{ role: 'user', content: 'What is 6 x 7?' }],
};
export const headers = {
  [VERSION_HEADER]: { description: 'Identifies clients of Anthropic.', example: '2023-06-01' },
};

function describeMessage(): ClientDescription {
  return {
    id: 'createMessage',
    tag,
    summary: "Generates a response to a conversation, in Anthropic's format.",
    headers,
    body: bodyOf(REQUEST_FIELDS, { model, max_tokens: z.int().min(0), messages }),
    bodyExample: { ...bodyExample, max_tokens: 256 },
    answer: z.looseObject({
      id: z.string(),
      type: z.literal('message'),
      role: z.literal('assistant'),
      model: z.string(),
      content: z.array(z.looseObject({ type: z.string() })),
      stop_reason: z.string().nullable(),
      usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int() }),
    }),
    alsoAs: { 'text/event-stream': eventStream },
  };
}
