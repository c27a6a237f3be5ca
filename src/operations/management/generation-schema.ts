// Schema of a record as shown to operators, built by `accounts/ledger/generation-view.ts`.
import { z } from 'zod';
import { OUTCOMES, REQUEST_STATES } from '../../accounts/ledger/index.ts';

const text = z.string().nullable();
const number = z.number().nullable();

const tokensSchema = z
  .looseObject({
    prompt_tokens: z.number(),
    completion_tokens: z.number(),
    total_tokens: z.number(),
    prompt_tokens_details: z.record(z.string(), z.number()).describe('Prompt tokens by class.'),
    completion_tokens_details: z.record(z.string(), z.number()).describe('Completion tokens by class.'),
    tool_calls: z.record(z.string(), z.number()).describe('Calls of tools that are charged per call.'),
  })
  .nullable();

const costSchema = z
  .looseObject({
    usd: number.describe('Null: one of its prices is unknown.'),
    items: z.record(z.string(), z.number()).describe('USD by class.'),
    price: z.unknown().describe('Applied prices: USD per million tokens.'),
  })
  .nullable();

const errorSchema = z
  .looseObject({ kind: z.string(), message: z.string(), upstream_status: number })
  .nullable();

const attemptSchema = z.looseObject({
  id: z.string(),
  provider: z.string(),
  endpoint: z.string(),
  model: z.string(),
  protocol: z.string(),
  lane: z.string(),
  outcome: z.string(),
  status: number,
  started_at: z.iso.datetime(),
  first_content_at: z.iso.datetime().nullable(),
  ended_at: z.iso.datetime(),
  queued_ms: number.describe('Time until the request was assigned to a connection.').optional(),
  connect_ms: number
    .describe('Time to open a connection, including TLS; null: unknown, or the connection was already open.')
    .optional(),
  headers_ms: number.describe('Time until the response headers; null: there were none.').optional(),
  started_ms: z.number().describe('Milliseconds since the arrival of the request.'),
  first_content_ms: number.describe(
    'From its start to its first content; null: no content, or not streamed.',
  ),
  generation_ms: number.describe('From its first content to its end.'),
  latency: number.describe('As `first_content_ms`.'),
  duration: z.number().describe('Milliseconds.'),
  tokens: tokensSchema,
  cost: costSchema,
  error: errorSchema,
});

const candidateSchema = z.looseObject({
  position: z.int().describe('Number of the attempt, from 1.'),
  endpoint: z.string(),
  provider: z.string(),
  model: z.string(),
  score: number,
  reason: z.string(),
  price: z.looseObject({ input: number, output: number }).nullable(),
  first_token_ms: number,
  tokens_per_second: number,
  success_rate: number,
  state: z.string(),
});

const routeSchema = z.looseObject({
  requested_model: z.string().optional(),
  strategy: z.looseObject({ type: z.string(), primary_factor: text }).optional(),
  candidates: z.array(candidateSchema).optional(),
  excluded: z.array(z.looseObject({ model: z.string(), endpoint: text, reason: z.string() })).optional(),
});

/** Members of all forms of a record. */
export const generationFacts = {
  id: z.string(),
  created_at: z.iso.datetime(),
  key_id: z.string(),
  project_id: z.string(),
  end_user: text,
  model: text,
  requested_model: z.string(),
  provider: text,
  endpoint: text,
  protocol: z.string(),
  lane: text,
  status: z.int(),
  streamed: z.boolean(),
  cancelled: z.boolean(),
  latency: number.describe('Milliseconds until the first content; null: there was none.'),
  generation_time: number.describe('Milliseconds from the first content to the end.'),
  finish_reason: text,
  estimated: z
    .boolean()
    .describe('Whether the gateway estimated the tokens, because the upstream did not report them.'),
  native_tokens: tokensSchema,
  cost: costSchema,
  error: errorSchema,
  state: z
    .enum(REQUEST_STATES)
    .describe(
      '`recovered`: complete response after a failed attempt; `broken_stream`: failed after its first content; `limit_reached`: refused by a limit or budget of this gateway; `rejected`: invalid request or missing permission.',
    ),
  duration_ms: z.number(),
  first_content_ms: number.describe('Null: no content, or not streamed.'),
  tokens: z.looseObject({ input: z.number(), output: z.number() }).nullable(),
  cost_usd: number.describe('Null: unknown, or not charged.'),
  unpriced: z.boolean().describe('Whether it used tokens with an unknown price.'),
  attempted: z.array(z.string()).describe('Tried providers in order, without duplicates.'),
  outcome: z
    .enum(OUTCOMES)
    .describe(
      '`failed`: because of a provider or the gateway; `refused`: because of a limit, a permission or the request.',
    ),
};

/** A complete record. */
export const generationSchema = z.looseObject({
  ...generationFacts,
  attempts: z.array(attemptSchema).describe('In chronological order.'),
  route: routeSchema.nullable().describe('Order of the endpoints, with reasons.'),
  report: z
    .array(z.looseObject({ path: z.string(), action: z.string(), reason: z.string() }))
    .describe('Parts of the request or response that were lost in translation.'),
});
