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
    id: z.string().describe('Id of the key; `operator` for a command on this machine.'),
    name: z.string(),
    address: z.string().nullable().describe('IP address of the client.'),
  }),
  action: z.string().describe('Kind of object and action, such as `key.create`.'),
  target: z.string().describe('Id of the object.'),
  request_id: z.string().nullable(),
  before: z.record(z.string(), z.unknown()).nullable().describe('Object before the change, without secrets.'),
  after: z.record(z.string(), z.unknown()).nullable().describe('Object after the change, without secrets.'),
});

export const AUDIT_ROUTES: readonly Route[] = [
  route({
    method: 'get',
    path: '/audit',
    tag: 'Audit log',
    summary: 'Lists all changes made through this API or by commands, newest first.',
    query: z.strictObject({
      ...PAGE,
      actor: z.string().optional().describe('Only changes made with this key.'),
      action: z.string().optional().describe('Only this action, such as `key.create`.'),
      target: z.string().optional().describe('Only changes of the object with this id.'),
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
