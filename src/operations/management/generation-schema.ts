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
    prompt_tokens_details: z.record(z.string(), z.number()).describe('By class; part of the prompt.'),
    completion_tokens_details: z.record(z.string(), z.number()).describe('By class; part of the completion.'),
    tool_calls: z.record(z.string(), z.number()).describe('Calls of tools that are charged by the call.'),
  })
  .nullable();

const costSchema = z
  .looseObject({
    usd: number.describe('Null: some price of it is unknown.'),
    items: z.record(z.string(), z.number()).describe('USD by class.'),
    price: z.unknown().describe('What was charged by: USD per million tokens.'),
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
  queued_ms: number.describe('Until the request was handed to a connection.').optional(),
  connect_ms: number.describe('Of a new connection, TLS included; null: unknown, or an open one.').optional(),
  headers_ms: number.describe('Until the head of the answer; null: there was none.').optional(),
  started_ms: z.number().describe('Milliseconds from the arrival of the request.'),
  first_content_ms: number.describe(
    'From its start to its first content; null: there was none, or no stream.',
  ),
  generation_ms: number.describe('From its first content to its end.'),
  latency: number.describe('As `first_content_ms`.'),
  duration: z.number().describe('Milliseconds.'),
  tokens: tokensSchema,
  cost: costSchema,
  error: errorSchema,
});

const candidateSchema = z.looseObject({
  position: z.int().describe('In the order of trying, from 1.'),
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
  latency: number.describe('Milliseconds until the first content; null where there was none.'),
  generation_time: number.describe('Milliseconds from the first content to the end.'),
  finish_reason: text,
  estimated: z.boolean().describe('Whether tokens were counted here, because the upstream did not.'),
  native_tokens: tokensSchema,
  cost: costSchema,
  error: errorSchema,
  state: z
    .enum(REQUEST_STATES)
    .describe(
      '`recovered`: a whole answer after a failed attempt; `broken_stream`: failed after its first content; `limit_reached`: a limit or budget of this gateway; `rejected`: the request or its permissions.',
    ),
  duration_ms: z.number(),
  first_content_ms: number.describe('Null: there was no content, or no stream.'),
  tokens: z.looseObject({ input: z.number(), output: z.number() }).nullable(),
  cost_usd: number.describe('Null: unknown, or nothing was charged.'),
  unpriced: z.boolean().describe('Whether it used tokens whose price is unknown.'),
  attempted: z.array(z.string()).describe('Providers that were tried, in order, each once.'),
  outcome: z
    .enum(OUTCOMES)
    .describe(
      '`failed`: a provider or the gateway was at fault; `refused`: a limit, a permission or the request.',
    ),
};

/** A complete record. */
export const generationSchema = z.looseObject({
  ...generationFacts,
  attempts: z.array(attemptSchema).describe('In the order in which they were made.'),
  route: routeSchema.nullable().describe('Who was asked in which order, and why.'),
  report: z
    .array(z.looseObject({ path: z.string(), action: z.string(), reason: z.string() }))
    .describe('What was lost in translation.'),
});
