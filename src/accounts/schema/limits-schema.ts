// Schemas of limits and budgets of the gateway, a project, a key or a provider. `limits/` implements them.
import { z } from 'zod';
import { PROJECT_NAME, PROJECT_NAME_RULE } from '../../canonical/index.ts';
import { MOST_LIMITS, MOST_USD, rulesOf, type LimitEntry } from '../limits/index.ts';

const amount = (): z.ZodNumber => z.number().int().min(1).max(Number.MAX_SAFE_INTEGER);

const shared = {
  per: z
    .string()
    .meta({ pattern: '^(?:second|minute|hour|day|week|month|[1-9]\\d{0,8}[smhd])$' })
    .optional()
    .describe(
      '`second`, `minute` or `hour`; calendar `day`, `week` or `month`; or a rolling window such as `"5h"` or `"7d"`. Default: for all time.',
    ),
  timezone: z
    .string()
    .optional()
    .describe('Time zone of days, weeks and months, e.g. `Europe/Berlin`. Default: UTC.'),
  models: z
    .array(z.string().min(1))
    .min(1)
    .max(100)
    .optional()
    .describe('Models that count, with `*` for any characters. Default: all.'),
  each: z.enum(['end_user']).optional().describe('`end_user`: applies to each end user separately.'),
};

/** Rule for the JSON Schema only. `rulesOf` enforces it with an error message. */
const TIMED = { dependentRequired: { timezone: ['per'] } };

/** A limit has exactly one of these. */
const LIMIT_COUNTS = ['requests', 'tokens', 'concurrent'];

const limit = z
  .strictObject({
    requests: amount().optional().describe('Maximum requests per `per`.'),
    tokens: amount().optional().describe('Maximum input and output tokens per `per`.'),
    concurrent: amount().optional().describe('Maximum concurrent requests. Takes no `per`.'),
    ...shared,
    too_large: z
      .enum(['refuse', 'allow'])
      .optional()
      .describe(
        'Requests that need more tokens than the whole limit. `allow`: they run while nothing else is used. Default: `refuse`.',
      ),
  })
  .meta({
    ...TIMED,
    // Exactly one of the three. The double `not` hides the `oneOf` from the type generator, which would change the
    // type.
    not: { not: { oneOf: LIMIT_COUNTS.map((name) => ({ required: [name] })) } },
  });

const budget = z
  .strictObject({
    usd: z.number().positive().max(MOST_USD).describe('Maximum US dollars per `per`.'),
    ...shared,
    when_spent: z
      .enum(['stop', 'finish'])
      .optional()
      .describe('Running responses when the budget is spent. Default: `stop`.'),
    unpriced: z
      .enum(['refuse', 'allow'])
      .optional()
      .describe('Requests with an unknown price. Default: `refuse`.'),
  })
  .meta(TIMED);

/** Limits of requests, tokens and concurrency. Each entry has exactly one of the three. */
export const limitsSchema = z.array(limit).max(MOST_LIMITS).check(checkEntries);

/** Limits of money. */
export const budgetsSchema = z.array(budget).max(MOST_LIMITS).check(checkEntries);

/** The name of a project. */
export const projectNameSchema = z.string().regex(PROJECT_NAME, PROJECT_NAME_RULE);

/** Projects by name, each with limits shared by its keys. */
export const projectsSchema = z
  .record(
    projectNameSchema,
    z.strictObject({
      limits: limitsSchema.default([]).describe('Limits of all its keys together; as `limits`.'),
      budgets: budgetsSchema.default([]).describe('Budgets of all its keys together; as `budgets`.'),
    }),
  )
  .describe('Projects, with limits and budgets shared by their keys.');

/** Checks entries by parsing them as rules. */
function checkEntries({ value, issues }: z.core.ParsePayload<readonly LimitEntry[]>): void {
  const alone = value.map((entry, at) => ({ problem: problemOf([entry]), path: [at] }));
  const wrong = alone.filter(({ problem }) => problem !== null);
  const all = wrong.length > 0 ? wrong : [{ problem: problemOf(value), path: [] }];
  for (const { problem, path } of all)
    if (problem !== null) issues.push({ code: 'custom', message: problem, path, input: value });
}

/** Problem of some entries. Null: they are valid. */
function problemOf(entries: readonly LimitEntry[]): string | null {
  try {
    rulesOf(entries);
    return null;
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}
