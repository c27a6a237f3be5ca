// Console sessions: who is signed in, from where, and ending them.
import { z } from 'zod';
import { notFound } from '../../../canonical/index.ts';
import type { SessionView } from '../dependencies.ts';
import { listOf, PAGE, pageOf } from '../page.ts';
import { route, type Route } from '../route.ts';

const sessionSchema = z.object({
  object: z.literal('console.session'),
  id: z.string(),
  actor: z.object({
    id: z.string().describe('Id of the key; `operator` for a sign-in by link.'),
    name: z.string(),
  }),
  address: z.string().nullable().describe('IP address of the sign-in; null: unknown.'),
  user_agent: z.string().nullable().describe("First 200 characters of the browser's user agent."),
  created_at: z.iso.datetime().describe('Time of the sign-in.'),
  last_used_at: z.iso.datetime().describe('Time of the last use, to the minute.'),
  expires_at: z.iso.datetime().describe('Time when it ends if it is not used before.'),
});
const endedSchema = z.object({
  object: z.literal('console.session.ended'),
  id: z.string(),
});

export const SESSION_ROUTES: readonly Route[] = [
  route({
    method: 'get',
    path: '/sessions',
    tag: 'Sessions',
    summary: 'Lists active console sessions, most recently used first.',
    description: 'At most 500. Keys and links of sessions are not included.',
    query: z.strictObject(PAGE),
    answer: listOf(sessionSchema),
    run: async ({ deps, query }) => {
      const page = pageOf(await deps.sessions.list(), ({ id }) => id, query);
      return { ...page, data: page.data.map(shown) };
    },
  }),
  route({
    method: 'delete',
    path: '/sessions/{id}',
    tag: 'Sessions',
    summary: 'Signs out a session, in all workers and replicas.',
    answer: endedSchema,
    refusals: [404],
    run: async ({ deps, param, record }) => {
      const id = param('id');
      const ended = await deps.sessions.end(id);
      if (!ended) throw notFound('Session', id, 'id');
      await record({
        action: 'console.session.end',
        target: id,
        before: { actor: ended.actor },
        after: null,
      });
      return { object: 'console.session.ended' as const, id };
    },
  }),
];

function shown({ id, actor, address, agent, openedAt, usedAt, endsAt }: SessionView) {
  return {
    object: 'console.session' as const,
    id,
    actor,
    address,
    user_agent: agent,
    created_at: new Date(openedAt).toISOString(),
    last_used_at: new Date(usedAt).toISOString(),
    expires_at: new Date(endsAt).toISOString(),
  };
}
