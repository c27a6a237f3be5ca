// Webhook receivers: create, change, test, and deliveries. Only the answer to a create or rotation contains the secret.
import { z } from 'zod';
import type { JobView } from '../../../accounts/ports/index.ts';
import { projectNameSchema } from '../../../accounts/schema/index.ts';
import { GatewayError, TEXTS, notFound } from '../../../canonical/index.ts';
import {
  decodeDelivery,
  type DeliveryAttempt,
  EVENT_TYPES,
  type Issued,
  type LoggedDelivery,
  TEST_EVENT,
  type WebhookEndpoint,
} from '../../webhooks/index.ts';
import { listOf, PAGE, pageOf, pageWith } from '../page.ts';
import { type RawCall, route, type Route } from '../route.ts';
import { isoTime } from '../time.ts';

const HOUR_MS = 3_600_000;

const webhookSchema = z.object({
  object: z.literal('webhook'),
  id: z.string(),
  source: z.enum(['file', 'database']).describe(TEXTS.changedInFile),
  project: z
    .string()
    .nullable()
    .describe('Project whose events it receives; null: events of all projects, and alerts.'),
  url: z.string(),
  description: z.string().nullable(),
  events: z.array(z.string()).nullable().describe('Types of events that it receives; null: all.'),
  state: z.enum(['enabled', 'failing', 'disabled']).describe('`disabled`: nothing is sent to it.'),
  failing_since: z.iso.datetime().nullable(),
  disabled_at: z.iso.datetime().nullable(),
  disabled_reason: z.string().nullable(),
  created_at: z.iso.datetime().nullable(),
});

const issuedSchema = webhookSchema.extend({ secret: z.string().describe('Shown once.') });

const deliverySchema = z.object({
  object: z.literal('webhook_delivery'),
  id: z.string(),
  type: z.string().nullable().describe('Type of the event.'),
  state: z
    .enum(['queued', 'waiting', 'running', 'completed', 'failed', 'cancelled'])
    .describe('`waiting`: failed, will be sent again. `completed`: delivered.'),
  attempts: z.int().describe('Number of attempts.'),
  last_failure: z.string().nullable(),
  created_at: z.iso.datetime(),
  ended_at: z.iso.datetime().nullable(),
});

const loggedSchema = deliverySchema.extend({
  message: z.string().describe('Its `webhook-id`.'),
  body: z.string().describe('Body of the message.'),
  log: z.array(
    z.object({
      at: z.iso.datetime(),
      duration_ms: z.number(),
      failure: z.string().nullable(),
      request: z.object({ headers: z.record(z.string(), z.string()) }),
      answer: z
        .object({
          status: z.int(),
          content_type: z.string().nullable(),
          body: z.string().describe('First 4096 characters.'),
        })
        .nullable()
        .describe('Null: no response.'),
    }),
  ),
});

const url = z
  .string()
  .max(2048)
  .regex(/^https?:\/\/[^\s/]+/, TEXTS.mustBeHttpAddress);
const members = {
  events: z.array(z.enum(EVENT_TYPES)).min(1).nullable().optional().describe('Default: all.'),
  description: z.string().max(500).nullable().optional(),
};

export const WEBHOOK_ROUTES: readonly Route[] = [
  route({
    method: 'get',
    path: '/webhooks',
    tag: 'Webhooks',
    summary: 'Lists webhooks: those of the configuration file first, then stored webhooks.',
    query: z.strictObject({ ...PAGE, project: projectNameSchema.optional() }),
    answer: listOf(webhookSchema),
    run: async (call) => {
      const { query, deps } = call;
      const all = await deps.webhooks.endpoints.all();
      const asked = all.filter(({ projectId }) => [projectId, undefined].includes(query.project));
      const page = pageOf(asked, ({ id }) => id, query);
      return { ...page, data: await Promise.all(page.data.map((each) => shown(each, call))) };
    },
  }),
  route({
    method: 'post',
    path: '/webhooks',
    tag: 'Webhooks',
    summary: 'Creates a webhook. Only this response contains its secret.',
    body: z.strictObject({
      url,
      project: projectNameSchema
        .nullable()
        .optional()
        .describe('Project whose events it receives. Default: events of all projects, and alerts.'),
      ...members,
    }),
    answer: issuedSchema,
    status: 201,
    refusals: [404, 409],
    idempotent: true,
    run: async (call) => {
      const { deps, body, record } = call;
      if (typeof body.project === 'string') await requireProject(call, body.project);
      await requireAddress(call, body.url);
      const { project: projectId = null, description = null, events = null } = body;
      const issued = await deps.webhooks.endpoints.create({ url: body.url, projectId, description, events });
      await record({ action: 'webhook.create', target: issued.endpoint.id, before: null, after: body });
      return shownIssued(issued, call);
    },
  }),
  route({
    method: 'get',
    path: '/webhooks/{id}',
    tag: 'Webhooks',
    summary: 'Returns one webhook.',
    answer: webhookSchema,
    refusals: [404],
    run: async (call) => shown(await endpointOf(call), call),
  }),
  route({
    method: 'patch',
    path: '/webhooks/{id}',
    tag: 'Webhooks',
    summary: 'Changes a webhook. Omitted members stay unchanged.',
    description: 'For a webhook of the configuration file, only `state` can be changed.',
    body: z.strictObject({
      url: url.optional(),
      ...members,
      state: z.literal('enabled').optional().describe('`enabled`: send events again after it was disabled.'),
    }),
    answer: webhookSchema,
    refusals: [404, 409],
    run: async (call) => {
      const { deps, body, record } = call;
      const { state, ...change } = body;
      const before = await endpointOf(call);
      if (Object.keys(change).length > 0) requireStored(before);
      if (change.url !== undefined) await requireAddress(call, change.url);
      if (Object.keys(change).length > 0) await deps.webhooks.endpoints.change(before.id, change);
      if (state !== undefined) await deps.webhooks.webhooks.enable(before.id);
      const { url: address, events, description } = before;
      await record({
        action: 'webhook.update',
        target: before.id,
        before: { url: address, events: events && [...events], description },
        after: body,
      });
      return shown(await endpointOf(call), call);
    },
  }),
  route({
    method: 'delete',
    path: '/webhooks/{id}',
    tag: 'Webhooks',
    summary: 'Deletes a webhook. Queued messages are not sent.',
    answer: z.object({ object: z.literal('webhook.deleted'), id: z.string(), deleted: z.literal(true) }),
    refusals: [404, 409],
    run: async (call) => {
      const { deps, record } = call;
      const endpoint = await endpointOf(call);
      requireStored(endpoint);
      const { id, url: address } = endpoint;
      await deps.webhooks.endpoints.delete(id);
      await record({ action: 'webhook.delete', target: id, before: { url: address }, after: null });
      return { object: 'webhook.deleted' as const, id, deleted: true as const };
    },
  }),
  route({
    method: 'post',
    path: '/webhooks/{id}/rotate',
    tag: 'Webhooks',
    summary: 'Creates a new secret. For a time, messages are also signed with the previous one.',
    body: z
      .strictObject({
        keep_hours: z
          .number()
          .min(0)
          .max(168)
          .default(24)
          .describe('Hours for which messages are also signed with the previous secret.'),
      })
      .prefault({}),
    answer: issuedSchema,
    refusals: [404, 409],
    idempotent: true,
    run: async (call) => {
      const { deps, body, record } = call;
      const endpoint = await endpointOf(call);
      requireStored(endpoint);
      const issued = await deps.webhooks.endpoints.rotate(endpoint.id, body.keep_hours * HOUR_MS);
      if (!issued) throw notFound('Webhook', endpoint.id, 'id');
      await record({ action: 'webhook.rotate', target: endpoint.id, before: null, after: body });
      return shownIssued(issued, call);
    },
  }),
  route({
    method: 'post',
    path: '/webhooks/{id}/test',
    tag: 'Webhooks',
    summary: 'Sends one test event to a webhook, even if it is disabled.',
    body: z
      .strictObject({
        type: z
          .enum([TEST_EVENT, ...EVENT_TYPES])
          .default(TEST_EVENT)
          .describe('Type of the event. Its `data` is `{"id": "test"}`.'),
      })
      .prefault({}),
    answer: deliverySchema,
    status: 201,
    refusals: [404],
    run: async (call) =>
      delivered(await call.deps.webhooks.webhooks.test(await endpointOf(call), call.body.type)),
  }),
  route({
    method: 'get',
    path: '/webhooks/{id}/deliveries',
    tag: 'Webhooks',
    summary: 'Lists the deliveries of a webhook, newest first. They are kept for 14 days.',
    query: z.strictObject({ limit: PAGE.limit, after: PAGE.after }),
    answer: listOf(deliverySchema),
    refusals: [404],
    run: async (call) => {
      const { id } = await endpointOf(call);
      const { jobs, hasMore } = await call.deps.webhooks.webhooks.deliveries(id, call.query);
      return pageWith(jobs.map(delivered), (each) => each.id, hasMore);
    },
  }),
  route({
    method: 'get',
    path: '/webhooks/{id}/deliveries/{delivery}',
    tag: 'Webhooks',
    summary: 'Returns one delivery with its requests and responses.',
    answer: loggedSchema,
    refusals: [404],
    run: async (call) => {
      const { id } = await endpointOf(call);
      const found = await call.deps.webhooks.webhooks.delivery(id, call.param('delivery'));
      if (!found) throw notFound('Delivery', call.param('delivery'), 'id');
      return logged(found);
    },
  }),
  route({
    method: 'post',
    path: '/webhooks/{id}/deliveries/{delivery}/redeliver',
    tag: 'Webhooks',
    summary: 'Sends a message again, with the same `webhook-id`.',
    answer: deliverySchema,
    status: 201,
    refusals: [404],
    run: async (call) => {
      const endpoint = await endpointOf(call);
      const again = await call.deps.webhooks.webhooks.redeliver(endpoint, call.param('delivery'));
      if (!again) throw notFound('Delivery', call.param('delivery'), 'id');
      return delivered(again);
    },
  }),
];

async function endpointOf({ deps, param }: Pick<RawCall, 'deps' | 'param'>): Promise<WebhookEndpoint> {
  const endpoint = await deps.webhooks.endpoints.find(param('id'));
  if (endpoint) return endpoint;
  throw notFound('Webhook', param('id'), 'id');
}

function requireStored({ source, id }: WebhookEndpoint): void {
  if (source === 'database') return;
  throw new GatewayError(
    'conflict',
    `The webhook '${id}' is defined in the configuration file. Change it there, under \`webhooks\` or \`alerts.webhooks\`.`,
  );
}

/** Rejects unknown projects, for which the receiver would never get an event. */
async function requireProject({ projects }: Pick<RawCall, 'projects'>, name: string): Promise<void> {
  try {
    await projects.find(name);
  } catch (error) {
    const { kind, code, message } = GatewayError.from(error);
    throw new GatewayError(kind, `project: ${message}`, { param: 'project', code });
  }
}

async function requireAddress({ deps }: Pick<RawCall, 'deps'>, address: string): Promise<void> {
  try {
    await deps.webhooks.checkAddress(address);
  } catch (error) {
    const { kind, code, message } = GatewayError.from(error);
    throw new GatewayError(kind, `url: ${message}`, { param: 'url', code });
  }
}

async function shown(
  endpoint: WebhookEndpoint,
  { deps }: Pick<RawCall, 'deps'>,
): Promise<z.input<typeof webhookSchema>> {
  const { id, source, projectId, url: address, description, events, createdAt } = endpoint;
  const { failingSince, disabled } = await deps.webhooks.endpoints.healthOf(id);
  const state = disabled ? 'disabled' : failingSince === null ? 'enabled' : 'failing';
  return {
    object: 'webhook',
    id,
    source,
    project: projectId,
    url: address,
    description,
    events: events && [...events],
    state,
    failing_since: isoTime(failingSince),
    disabled_at: isoTime(disabled?.at ?? null),
    disabled_reason: disabled?.reason ?? null,
    created_at: isoTime(createdAt),
  };
}

async function shownIssued(
  { endpoint, secret }: Issued,
  call: Pick<RawCall, 'deps'>,
): Promise<z.input<typeof issuedSchema>> {
  return { ...(await shown(endpoint, call)), secret: secret.reveal() };
}

function delivered({
  id,
  eventType,
  state,
  attempt,
  waits,
  error,
  createdAt,
  endedAt,
}: JobView): z.input<typeof deliverySchema> {
  return {
    object: 'webhook_delivery',
    id,
    type: eventType,
    state,
    attempts: attempt,
    last_failure: error?.message ?? waits?.reason ?? null,
    created_at: new Date(createdAt).toISOString(),
    ended_at: isoTime(endedAt),
  };
}

function logged({ job, steps }: LoggedDelivery): z.input<typeof loggedSchema> {
  const { message, body } = decodeDelivery(job.payload);
  const log = steps.map(({ at, detail }) => {
    const { request, answer, failure, durationMs } = JSON.parse(detail) as DeliveryAttempt;
    const { status, contentType, body: said } = answer ?? { status: 0, contentType: null, body: '' };
    return {
      at: new Date(at).toISOString(),
      duration_ms: durationMs,
      failure,
      request: { headers: { ...request.headers } },
      answer: answer && { status, content_type: contentType, body: said },
    };
  });
  return { ...delivered(job), message, body, log };
}
