// Audit log: who changed what, when, and from which address.
import { z } from 'zod';
import { listOf, PAGE, pageWith, refuseBoth } from '../page.ts';
import { route, type Route } from '../route.ts';
import { momentMs, time } from '../time.ts';

const entrySchema = z.object({
  object: z.literal('audit.entry'),
  id: z.string(),
  created_at: z.iso.datetime(),
  actor: z.object({
    id: z.string().describe('Id of the key; `operator` for a command of the machine itself.'),
    name: z.string(),
    address: z.string().nullable().describe('Where the request came from.'),
  }),
  action: z.string().describe('What was done to what kind of thing, e.g. `key.create`.'),
  target: z.string().describe('Id of the thing.'),
  request_id: z.string().nullable(),
  before: z.record(z.string(), z.unknown()).nullable().describe('As it was, without secrets.'),
  after: z.record(z.string(), z.unknown()).nullable().describe('As it became, without secrets.'),
});

export const AUDIT_ROUTES: readonly Route[] = [
  route({
    method: 'get',
    path: '/audit',
    tag: 'Audit log',
    summary: 'Every change that was made by this API or by commands, newest first.',
    query: z.strictObject({
      ...PAGE,
      actor: z.string().optional().describe('Only changes made with this key.'),
      action: z.string().optional().describe('Only changes of this kind.'),
      target: z.string().optional().describe('Only changes of this thing.'),
      from: time.optional().describe('Only changes made at or after this time.'),
      to: time.optional().describe('Only changes made before this time.'),
    }),
    answer: listOf(entrySchema),
    run: async ({ deps, query: { from, to, ...query }, timeZone }) => {
      refuseBoth(query);
      const { entries, hasMore } = await deps.audit.list({
        ...query,
        from: momentMs(from, timeZone),
        to: momentMs(to, timeZone),
      });
      const shown = entries.map(({ createdAt, requestId, ...entry }) => ({
        object: 'audit.entry' as const,
        ...entry,
        created_at: new Date(createdAt).toISOString(),
        request_id: requestId,
      }));
      return pageWith(shown, ({ id }) => id, hasMore);
    },
  }),
];
