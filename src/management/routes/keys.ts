// API keys: made, listed, changed, given another secret, revoked. A key itself is in the answer that makes it, and nowhere else.
import { z } from 'zod';
import { keyJson, type KeyView } from '../../auth/index.ts';
import { KEY_ROLES } from '../../canonical/index.ts';
import { budgetsSchema, limitsSchema, routingDefaultsSchema } from '../../config/index.ts';
import { changeOf } from '../change-of.ts';
import type { Versioned } from '../entity-tag.ts';
import { isFound, listOf, PAGE, pageOfBoth, SEARCH } from '../page.ts';
import { route, type RawCall, type Route } from '../route.ts';

/** Ids that a list is narrowed to: as many as a page has entries. */
const MOST_IDS = 100;
const LONGEST_GRACE_MS = 90 * 24 * 3_600_000;
const roles = z.array(z.enum(KEY_ROLES)).min(1);
const models = z.array(z.string().min(1).max(500)).min(1).max(1_000);

const keySchema = z.object({
  object: z.literal('key'),
  id: z.string(),
  name: z.string(),
  project: z.string().nullable().describe('Null: it is a project of its own.'),
  roles: z.array(z.enum(KEY_ROLES)),
  hint: z.string().describe('Its first and last characters.'),
  state: z.enum(['active', 'expired', 'revoked']),
  source: z.enum(['file', 'database']).describe('What the file defines is changed there alone.'),
  created_at: z.iso.datetime().nullable(),
  updated_at: z.iso.datetime().nullable(),
  expires_at: z.iso.datetime().nullable().describe('Null: never.'),
  revoked_at: z.iso.datetime().nullable(),
  previous_valid_until: z.iso.datetime().nullable().describe('Of the secret before the last rotation.'),
  models: z.array(z.string()).nullable().describe('Models or patterns with `*`; null: all.'),
  log_content: z.boolean().nullable().describe('Null: as `logging.content` says.'),
  strict: z.boolean().nullable().describe('Null: as for everybody.'),
  routing: routingDefaultsSchema
    .nullable()
    .optional()
    .describe('Absent for a key of the file: `/management/config` has it.'),
  limits: limitsSchema,
  budgets: budgetsSchema,
  version: z.int().nullable().describe('Grows with each change; the `ETag`. Null for a key of the file.'),
});
const madeKeySchema = keySchema.extend({
  key: z.string().describe('The key itself. It is shown this once and kept nowhere.'),
});

/** What a key may be given. */
const settings = {
  roles: roles.optional().describe('Default: `models` alone.'),
  models: models.nullable().optional().describe('Models or patterns with `*`; null: all.'),
  expires_at: z.iso.datetime({ offset: true }).nullable().optional().describe('Null: never.'),
  log_content: z
    .boolean()
    .nullable()
    .optional()
    .describe('Keep prompts and answers in its records; null: as `logging.content` says.'),
  strict: z
    .boolean()
    .nullable()
    .optional()
    .describe('Refuse what would lose something; null: as for everybody.'),
  routing: routingDefaultsSchema.nullable().optional(),
  limits: limitsSchema.optional(),
  budgets: budgetsSchema.optional(),
};
const name = z.string().min(1).max(256);
const changesSchema = z.strictObject({ name: name.optional(), ...settings });
const newKeySchema = z.strictObject({
  name,
  project: z.string().nullable().optional().describe('Null: it is a project of its own. It stays there.'),
  ...settings,
});

export const KEY_ROUTES: readonly Route[] = [
  route({
    method: 'get',
    path: '/keys',
    tag: 'Keys',
    summary:
      'All keys: those of the configuration file first, then the stored ones in the order of their making.',
    query: z.strictObject({
      ...PAGE,
      project: z.string().optional().describe('Only keys of this project.'),
      state: z
        .enum(['revoked', 'unrevoked'])
        .optional()
        .describe('Only those that are, or are not, revoked.'),
      name: name.optional().describe('Only keys that are called so.'),
      search: SEARCH.describe('Only keys whose name or id contains this text, in small letters or capitals.'),
      id: z
        .string()
        .optional()
        .describe(`Only the keys of these ids, behind commas, at most ${MOST_IDS}: records name them so.`)
        .transform((given) => given?.split(',').map((id) => id.trim()))
        .pipe(z.array(z.string().min(1)).max(MOST_IDS).optional()),
    }),
    answer: listOf(keySchema),
    run: async ({ keys, query }) => {
      const { project, name, search, id: ids } = query;
      const isRevoked = query.state === undefined ? undefined : query.state === 'revoked';
      const inFile = isRevoked === true ? [] : keys.configured();
      const first = inFile.filter(
        (key) =>
          (project === undefined || key.projectId === project) &&
          (name === undefined || key.name === name) &&
          isFound(search, key.name, key.id) &&
          ids?.includes(key.id) !== false,
      );
      const page = await pageOfBoth(
        first,
        (part) => keys.list({ ...part, projectId: project, isRevoked, name, search, ids }),
        ({ id }) => id,
        query,
      );
      return { ...page, data: page.data.map(viewOf) };
    },
  }),
  route({
    method: 'post',
    path: '/keys',
    tag: 'Keys',
    summary: 'Makes a key. The answer holds it, this once.',
    body: newKeySchema,
    answer: madeKeySchema,
    status: 201,
    refusals: [404, 409],
    tagged: true,
    idempotent: true,
    run: async ({ deps, keys, body }) => {
      const settings = settingsOf(body, deps);
      const made = await keys.create({ ...settings, name: body.name, projectId: body.project });
      await deps.tenantsChanged();
      return { ...viewOf(made.record), key: made.key };
    },
  }),
  route({
    method: 'get',
    path: '/keys/{id}',
    tag: 'Keys',
    summary: 'One key, by its id or its name.',
    answer: keySchema,
    refusals: [404, 409],
    tagged: true,
    run: async ({ keys, param }) => viewOf(await keys.find(param('id'))),
  }),
  route({
    method: 'patch',
    path: '/keys/{id}',
    tag: 'Keys',
    summary: 'Changes what a key may do; what is absent stays as it is.',
    body: changesSchema,
    answer: keySchema,
    refusals: [404, 409],
    tagged: true,
    conditional: true,
    run: async (call) => {
      const { deps, keys, body } = call;
      const changes = { ...settingsOf(body, deps), ...(body.name !== undefined && { name: body.name }) };
      const before = await keys.find(call.param('id'));
      return viewOf(await changeOf(call, before, (condition) => keys.change(before.id, changes, condition)));
    },
  }),
  route({
    method: 'post',
    path: '/keys/{id}/rotate',
    tag: 'Keys',
    summary: 'Gives a key another secret; all that it has stays its own.',
    body: z
      .strictObject({
        grace_ms: z
          .int()
          .min(0)
          .max(LONGEST_GRACE_MS)
          .default(0)
          .describe('How long the secret of before is good, too.'),
      })
      .prefault({}),
    answer: madeKeySchema,
    refusals: [404, 409],
    tagged: true,
    conditional: true,
    idempotent: true,
    run: async (call) => {
      const { keys, body } = call;
      const before = await keys.find(call.param('id'));
      const made = await changeOf(call, before, (condition) =>
        keys.rotate(before.id, body.grace_ms, condition),
      );
      return { ...viewOf(made.record), key: made.key };
    },
  }),
  route({
    method: 'delete',
    path: '/keys/{id}',
    tag: 'Keys',
    summary: 'Revokes a key. Its records stay; revoking twice keeps the first time.',
    answer: keySchema,
    refusals: [404, 409],
    tagged: true,
    conditional: true,
    run: async (call) => {
      const before = await call.keys.find(call.param('id'));
      return viewOf(await changeOf(call, before, (condition) => call.keys.revoke(before.id, condition)));
    },
  }),
];

function settingsOf(
  { expires_at: expires, log_content: logContent, ...given }: Omit<z.output<typeof changesSchema>, 'name'>,
  { checkRouting }: RawCall['deps'],
) {
  const { roles: wanted, models: named, strict, routing, limits, budgets } = given;
  if (routing) checkRouting(routing);
  return {
    roles: wanted,
    models: named,
    strict,
    routing,
    limits,
    budgets,
    logContent,
    ...(expires !== undefined && { expiresAt: expires === null ? null : Date.parse(expires) }),
  };
}

function viewOf(key: KeyView): z.input<typeof keySchema> & Versioned {
  return keyJson(key) as z.input<typeof keySchema>;
}
