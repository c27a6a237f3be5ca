// API keys: create, list, change, rotate, revoke. Only the answer to a create or rotation contains the key itself.
import { budgetsSchema, limitsSchema, routingDefaultsSchema } from '../../../accounts/schema/index.ts';
import { z } from 'zod';
import { keyJson, type KeyView } from '../../../accounts/auth/index.ts';
import {
  GatewayError,
  KEY_ROLES,
  ON_DISCONNECT,
  ON_DISCONNECT_HINT,
  TEXTS,
} from '../../../canonical/index.ts';
import { changeOf } from '../change-of.ts';
import type { Versioned } from '../entity-tag.ts';
import { keyNames } from '../generation-filters.ts';
import {
  inKeyOrder,
  KEY_ORDERS,
  KEY_STATES,
  KEY_USE,
  keyLimitUsages,
  type KeyUse,
  keyUses,
  LIMIT_USAGES,
} from '../key-rows.ts';
import { isFound, listOf, PAGE, pageOf, pageOfBoth, SEARCH } from '../page.ts';
import { route, type RawCall, type Route } from '../route.ts';

/** Maximum ids that filter a list: the size of a page. */
const MOST_IDS = 100;
/** Maximum keys for sorting by usage, all of which are read. */
const MOST_SORTED = 20_000;
const AT_ONCE = 1_000;
const STATE_WORDS = [...KEY_STATES, 'unrevoked'];
const LONGEST_GRACE_MS = 90 * 24 * 3_600_000;
const roles = z.array(z.enum(KEY_ROLES)).min(1);
const models = z.array(z.string().min(1).max(500)).min(1).max(1_000);

const keySchema = z.object({
  object: z.literal('key'),
  id: z.string(),
  name: z.string(),
  project: z.string().nullable().describe('Null: the key is its own project.'),
  roles: z.array(z.enum(KEY_ROLES)),
  hint: z.string().describe('First and last characters of the key.'),
  source: z.enum(['file', 'database']).describe(TEXTS.changedInFile),
  created_at: z.iso.datetime().nullable(),
  updated_at: z.iso.datetime().nullable(),
  expires_at: z.iso.datetime().nullable().describe('Null: never.'),
  revoked_at: z.iso.datetime().nullable(),
  previous_valid_until: z.iso
    .datetime()
    .nullable()
    .describe('Time until which the previous secret is valid.'),
  models: z.array(z.string()).nullable().describe('Models or patterns with `*`; null: all.'),
  log_content: z.boolean().nullable().describe('Null: as set by `logging.content`.'),
  strict: z.boolean().nullable().describe('Null: as set by `strict` in the configuration.'),
  on_disconnect: z.string().nullable().describe('Null: as set by `streams.on_disconnect`.'),
  routing: routingDefaultsSchema
    .nullable()
    .optional()
    .describe('Absent for keys of the configuration file; see `/management/config`.'),
  limits: limitsSchema,
  budgets: budgetsSchema,
  version: z
    .int()
    .nullable()
    .describe('Increases with each change; used as `ETag`. Null for keys of the configuration file.'),
});
const listedKeySchema = keySchema.extend(KEY_USE);
const oneKeySchema = listedKeySchema.extend({ standings: LIMIT_USAGES });
const madeKeySchema = listedKeySchema.extend({
  key: z.string().describe('The key itself. Only this response contains it.'),
});

/** Members of a key that clients can set. */
const settings = {
  roles: roles.optional().describe('Default: only `models`.'),
  models: models.nullable().optional().describe('Models or patterns with `*`; null: all.'),
  expires_at: z.iso.datetime({ offset: true }).nullable().optional().describe('Null: never.'),
  log_content: z
    .boolean()
    .nullable()
    .optional()
    .describe('Log prompts and responses of its requests. Null: as set by `logging.content`.'),
  strict: z
    .boolean()
    .nullable()
    .optional()
    .describe(
      'Refuse requests if any parameter would be dropped. Null: as set by `strict` in the configuration.',
    ),
  on_disconnect: z
    .string()
    .regex(ON_DISCONNECT, ON_DISCONNECT_HINT)
    .nullable()
    .optional()
    .describe('Action when a client disconnects. Null: as set by `streams.on_disconnect`.'),
  routing: routingDefaultsSchema.nullable().optional(),
  limits: limitsSchema.optional(),
  budgets: budgetsSchema.optional(),
};
const name = z.string().min(1).max(256);
const changesSchema = z.strictObject({ name: name.optional(), ...settings });
const newKeySchema = z.strictObject({
  name,
  project: z.string().nullable().optional().describe('Null: the key is its own project. It stays there.'),
  ...settings,
});

const IDS = z
  .string()
  .describe(`Only keys with these ids, separated by commas, at most ${MOST_IDS}. Records contain these ids.`)
  .transform((given) => given.split(',').map((id) => id.trim()))
  .pipe(z.array(z.string().min(1)).max(MOST_IDS));

export const KEY_ROUTES: readonly Route[] = [
  route({
    method: 'get',
    path: '/keys',
    tag: 'Keys',
    summary: 'Lists keys: those of the configuration file first, then stored keys by time of creation.',
    query: z.strictObject({
      ...PAGE,
      project: z.string().optional().describe('Only keys of this project.'),
      state: z
        .string()
        .regex(new RegExp(`^(?:${STATE_WORDS.join('|')})(?:,(?:${STATE_WORDS.join('|')}))*$`), {
          error: TEXTS.mustBeSomeOf(STATE_WORDS),
        })
        .optional()
        .describe('Only keys in these states, separated by commas. `unrevoked`: all except revoked keys.'),
      order_by: z
        .enum(KEY_ORDERS)
        .optional()
        .describe(
          'Default: keys of the configuration file first, then by time of creation. `spent`: spend of this month.',
        ),
      order: z.enum(['asc', 'desc']).default('asc').describe('With `order_by`.'),
      name: name.optional().describe('Only keys with this exact name.'),
      search: SEARCH.describe('Only keys whose name or id contains this text (case-insensitive).'),
      id: IDS.optional(),
    }),
    answer: listOf(listedKeySchema),
    run: async (call) => {
      const { keys, query } = call;
      const { project, name, search, id: ids, order_by: orderBy, order } = query;
      const states = query.state?.split(',') ?? [];
      const isRevoked = REVOKED[query.state ?? ''];
      const isNarrowed = states.length > 0 && isRevoked === undefined;
      const inFile = isRevoked === true ? [] : keys.configured();
      const first = inFile.filter(
        (key) =>
          (project === undefined || key.projectId === project) &&
          (name === undefined || key.name === name) &&
          isFound(search, key.name, key.id) &&
          ids?.includes(key.id) !== false,
      );
      const filter = { projectId: project, isRevoked, name, search, ids };
      if (orderBy !== undefined || isNarrowed) {
        const all = [...first, ...(await everyKey(keys, filter))];
        const uses = await keyUses(all, call);
        const wanted = isNarrowed ? all.filter((key) => isIn(states, uses.get(key.id))) : all;
        const sorted = orderBy ? inKeyOrder(wanted, uses, orderBy, order) : wanted;
        const page = pageOf(sorted, ({ id }) => id, query);
        return { ...page, data: page.data.map((key) => rowOf(key, uses.get(key.id))) };
      }
      const page = await pageOfBoth(
        first,
        (part) => keys.list({ ...part, ...filter }),
        ({ id }) => id,
        query,
      );
      const uses = await keyUses(page.data, call);
      return { ...page, data: page.data.map((key) => rowOf(key, uses.get(key.id))) };
    },
  }),
  route({
    method: 'get',
    path: '/key-names',
    tag: 'Keys',
    summary: 'Names of keys by id, without their usage, which takes longer to read.',
    query: z.strictObject({ id: IDS }),
    answer: z.object({
      object: z.literal('list'),
      data: z.array(z.object({ id: z.string(), name: z.string() })).describe('Ids of no key are absent.'),
    }),
    run: async ({ keys, query }) => {
      const names = await keyNames(query.id, keys);
      return { object: 'list' as const, data: [...names].map(([id, name]) => ({ id, name })) };
    },
  }),
  route({
    method: 'post',
    path: '/keys',
    tag: 'Keys',
    summary: 'Creates a key. Only this response contains the key itself.',
    body: newKeySchema,
    answer: madeKeySchema,
    status: 201,
    refusals: [404, 409],
    tagged: true,
    idempotent: true,
    run: async (call) => {
      const { deps, keys, body } = call;
      const settings = settingsOf(body, deps);
      const made = await keys.create({ ...settings, name: body.name, projectId: body.project });
      await deps.tenantsChanged();
      return { ...(await usageOfKey(made.record, call)), key: made.key };
    },
  }),
  route({
    method: 'get',
    path: '/keys/{id}',
    tag: 'Keys',
    summary: 'Returns one key, by id or name.',
    answer: oneKeySchema,
    refusals: [404, 409],
    tagged: true,
    run: async (call) => {
      const key = await call.keys.find(call.param('id'));
      return { ...(await usageOfKey(key, call)), standings: keyLimitUsages(key, call) };
    },
  }),
  route({
    method: 'patch',
    path: '/keys/{id}',
    tag: 'Keys',
    summary: 'Changes a key. Omitted members stay unchanged.',
    body: changesSchema,
    answer: listedKeySchema,
    refusals: [404, 409],
    tagged: true,
    conditional: true,
    run: async (call) => {
      const { deps, keys, body } = call;
      const changes = { ...settingsOf(body, deps), ...(body.name !== undefined && { name: body.name }) };
      const before = await keys.find(call.param('id'));
      const changed = await changeOf(call, before, (condition) => keys.change(before.id, changes, condition));
      return usageOfKey(changed, call);
    },
  }),
  route({
    method: 'post',
    path: '/keys/{id}/rotate',
    tag: 'Keys',
    summary: 'Replaces the secret of a key, and keeps everything else.',
    body: z
      .strictObject({
        grace_ms: z
          .int()
          .min(0)
          .max(LONGEST_GRACE_MS)
          .default(0)
          .describe('Milliseconds for which the previous secret stays valid.'),
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
      return { ...(await usageOfKey(made.record, call)), key: made.key };
    },
  }),
  route({
    method: 'delete',
    path: '/keys/{id}',
    tag: 'Keys',
    summary: 'Revokes a key. Its records are kept. Revoking it again does not change the time.',
    answer: listedKeySchema,
    refusals: [404, 409],
    tagged: true,
    conditional: true,
    run: async (call) => {
      const before = await call.keys.find(call.param('id'));
      const revoked = await changeOf(call, before, (condition) => call.keys.revoke(before.id, condition));
      return usageOfKey(revoked, call);
    },
  }),
];

function settingsOf(
  {
    expires_at: expires,
    log_content: logContent,
    on_disconnect: onDisconnect,
    ...given
  }: Omit<z.output<typeof changesSchema>, 'name'>,
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
    onDisconnect,
    ...(expires !== undefined && { expiresAt: expires === null ? null : Date.parse(expires) }),
  };
}

const REVOKED: Readonly<Record<string, boolean>> = { revoked: true, unrevoked: false };

async function usageOfKey(
  key: KeyView,
  call: Parameters<typeof keyUses>[1],
): Promise<ReturnType<typeof rowOf>> {
  return rowOf(key, (await keyUses([key], call)).get(key.id));
}

function rowOf(key: KeyView, use: KeyUse | undefined): z.input<typeof listedKeySchema> & Versioned {
  return { ...keyJson(key), ...use } as z.input<typeof listedKeySchema> & Versioned;
}

function isIn(states: readonly string[], use: KeyUse | undefined): boolean {
  if (!use) return false;
  return states.includes(use.state) || (states.includes('unrevoked') && use.state !== 'revoked');
}

/**
 * All matching keys, for sort orders that the database does not support.
 * @throws GatewayError `invalid_request` for too many
 */
async function everyKey(
  keys: RawCall['keys'],
  filter: Omit<Parameters<RawCall['keys']['list']>[0], 'limit' | 'order' | 'after'>,
): Promise<readonly KeyView[]> {
  const found: KeyView[] = [];
  for (let hasMore = true; hasMore;) {
    const page = await keys.list({ ...filter, limit: AT_ONCE, order: 'asc', after: found.at(-1)?.id });
    found.push(...page.entries);
    ({ hasMore } = page);
    if (found.length > MOST_SORTED)
      throw new GatewayError(
        'invalid_request',
        `order_by: supports at most ${MOST_SORTED.toLocaleString('en')} keys; filter them by \`project\` or \`search\``,
        { param: 'order_by' },
      );
  }
  return found;
}
