// Current state of limits and budgets: usage, reservations of running requests, and when each frees up.
import { budgetsSchema, limitsSchema } from '../../../accounts/schema/index.ts';
import { z } from 'zod';
import {
  limitText,
  OWNER_KINDS,
  usdOf,
  type LimitRule,
  type Owner,
  type LimitUsage,
} from '../../../accounts/limits/index.ts';
import { listOf, PAGE, pageOf } from '../page.ts';
import { route, type Route } from '../route.ts';
import { isoTime } from '../time.ts';

const amount = z.number().min(0);
const limitUsageSchema = z.object({
  limit: z.union([limitsSchema.element, budgetsSchema.element]).describe('The limit in words.'),
  text: z.string().describe('In words.'),
  unit: z.enum(['requests', 'tokens', 'concurrent', 'usd']),
  used: amount.describe('Reservations included.'),
  reserved: amount.describe('Reserved by running requests.'),
  remaining: amount,
  clears_at: z.iso
    .datetime()
    .nullable()
    .describe('Time when its use falls to zero without new requests; null: never.'),
});
const ownerSchema = z.object({
  object: z.literal('limits'),
  id: z.string().describe('Kind and id of the owner.'),
  owner: z.object({
    kind: z.enum(OWNER_KINDS),
    id: z.string().describe('Empty for the gateway.'),
    name: z.string(),
  }),
  limits: z.array(limitUsageSchema).describe('Without limits that apply to each end user.'),
});

export const LIMIT_ROUTES: readonly Route[] = [
  route({
    method: 'get',
    path: '/limits',
    tag: 'Limits',
    summary: 'Lists limits and budgets of the gateway, projects, keys and providers with their use.',
    query: z.strictObject({
      ...PAGE,
      kind: z.enum(OWNER_KINDS).optional().describe('Only owners of this kind.'),
      id: z.string().optional().describe('Only the owner with this id.'),
    }),
    answer: listOf(ownerSchema),
    run: ({ deps: { limits }, query }) => {
      const owners = limits.writtenFor({ kinds: query.kind && [query.kind], id: query.id });
      // Only the owners of the page are evaluated, because there may be a hundred thousand.
      const page = pageOf(owners, ({ owner }) => idOf(owner), query);
      const data = page.data.map((written) => ({
        object: 'limits' as const,
        id: idOf(written.owner),
        owner: { ...written.owner },
        limits: limits.limitUsages([written]).map(viewOf),
      }));
      return { ...page, data };
    },
  }),
];

function idOf({ kind, id }: Owner): string {
  return id === '' ? kind : `${kind}:${id}`;
}

function viewOf({
  limit: { rule },
  used,
  reserved,
  remaining,
  clearsAtMs,
}: LimitUsage): z.input<typeof limitUsageSchema> {
  return {
    limit: rule.entry as z.input<typeof limitUsageSchema>['limit'],
    text: limitText(rule),
    unit: rule.kind,
    used: amountOf(rule, used),
    reserved: amountOf(rule, reserved),
    remaining: amountOf(rule, remaining),
    clears_at: isoTime(clearsAtMs),
  };
}

/** Money is counted in nano-dollars. */
function amountOf({ kind }: LimitRule, counted: number): number {
  return kind === 'usd' ? usdOf(counted) : counted;
}
