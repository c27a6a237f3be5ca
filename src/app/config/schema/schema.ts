// Schema of the configuration file: every key with type, default and description, and the type with which the program
// reads it. The reference page and the JSON Schema are generated from it.
import { TEXTS } from '../../../canonical/index.ts';
import {
  inProgram,
  orNull,
  secretOrEmpty,
  schemaAt,
  schemaNode,
  type SchemaNode,
} from '../../../catalog/schema/index.ts';
import { budgetsSchema, limitsSchema, projectsSchema } from '../../../accounts/schema/index.ts';
import { z } from 'zod';
import type { JsonObject } from '../../../base/json/index.ts';
import { LOG_LEVELS } from '../../../base/telemetry/log.ts';
import { alertsSchema, webhooksSchema } from './alerts-schema.ts';
import { catalogSchema } from './catalog-schema.ts';
import { countersSchema } from './counters-schema.ts';
import { backgroundSchema, batchesSchema, jobsSchema, streamsSchema } from './durable-schema.ts';
import { filesSchema } from './files-schema.ts';
import { keySchema } from './key-schema.ts';
import { mcpSchema } from './mcp-schema.ts';
import { metricsSchema } from './metrics-schema.ts';
import { modelSchema } from './model-schema.ts';
import { providerSchema } from './provider-schema.ts';
import { milliseconds, routingSchema } from './routing-schema.ts';
import { serverSchema } from './server-schema.ts';
import { telemetrySchema } from './telemetry-schema.ts';
import { upstreamSchema } from './upstream-schema.ts';
import { webSearchSchema } from './web-search-schema.ts';

/** The whole file. Every object refuses unknown keys. */
const file = z.strictObject({
  $schema: z.string().optional().describe('For editors; ignored.'),
  server: serverSchema,
  data_dir: z.string().min(1).default('./data').describe('Folder of the embedded database and its secrets.'),
  database_url: orNull(secretOrEmpty()).describe('PostgreSQL URL, instead of the embedded database.'),
  secret: orNull(secretOrEmpty()).describe(
    'Secret for hashing keys and encrypting reasoning: 64 hexadecimal digits (`openssl rand -hex 32`). Default: the file `secret.key` in `data_dir`. Required with `database_url`, with the same value for all processes.',
  ),
  earlier_secrets: z
    .array(secretOrEmpty())
    .default([])
    .describe(
      'Earlier values of `secret`, latest first. Data that was hashed or encrypted with them remains valid.',
    ),
  redis_url: orNull(secretOrEmpty()).describe('Valkey or Redis URL, for counters shared between processes.'),
  counters: countersSchema,
  limits: limitsSchema
    .default([])
    .describe(
      'Limits of all requests together. Each entry has one of `requests`, `tokens` and `concurrent`.',
    ),
  budgets: budgetsSchema.default([]).describe('Budgets of all requests together.'),
  projects: projectsSchema.default({}),
  keys: z.array(keySchema).prefault([]).describe('API keys, in addition to the stored ones.'),
  providers: z
    .record(z.string().regex(/^[\w.-]+$/, TEXTS.nameCharacters), providerSchema)
    .prefault({})
    .describe('Upstream services by name. A preset supplies missing settings. `false` disables a provider.'),
  models: z.array(modelSchema).prefault([]).describe('Models that differ from the catalog.'),
  catalog: catalogSchema,
  aliases: z.record(z.string(), z.string()).default({}).describe('Other names for models: alias to id.'),
  routing: routingSchema,
  upstream: upstreamSchema,
  strict: z
    .boolean()
    .default(false)
    .describe(
      'Refuse requests (400) if something would be dropped or changed. Keys and the header `x-dragoman-strict` override it.',
    ),
  fetch: z
    .strictObject({
      allow: z
        .array(z.string().min(1))
        .default([])
        .describe('`host` or `host:port` that requests may use although it is not public.'),
    })
    .prefault({})
    .describe('URLs in requests: images, files, MCP servers.'),
  vendor_objects: z
    .array(z.string().min(1))
    .default([])
    .describe(
      'Ids of objects in your accounts at vendors that every request may name: files, containers, vector stores, caches, skills; `*` stands for any characters. Default: none, and their ids are a 404.',
    ),
  tools: inProgram(
    z.strictObject({
      web_search: webSearchSchema,
      mcp: mcpSchema,
    }),
  )
    .prefault({})
    .describe('Tools that the gateway runs for models.'),
  state: inProgram(
    z.strictObject({
      retention_days: z
        .number()
        .min(0)
        .default(30)
        .describe('Days for which stored responses and files are kept; 0: until they are deleted.'),
      max_mb_per_key: z
        .number()
        .min(0)
        .default(1024)
        .describe('Storage quota of a project, or of a key without one, in MB (1 MB = 1,048,576 bytes).'),
    }),
  )
    .prefault({})
    .describe('Objects that the gateway stores for clients.'),
  ledger: inProgram(
    z.strictObject({
      durability: z
        .enum(['database', 'local'])
        .optional()
        .describe(
          'Where the record must be stored before the last byte of a response is sent: in the database, or in the local journal. Default: `local` with SQLite, `database` with PostgreSQL. If the database is slow or unreachable, the journal is sufficient after one second.',
        ),
      spool_mb: z
        .number()
        .min(1)
        .default(128)
        .describe('MB of records that may wait in the journal while the database cannot be written.'),
      when_full: z
        .enum(['serve', 'refuse'])
        .default('serve')
        .describe(
          'Requests while the journal is full or cannot be written: `serve` serves them and logs their records, `refuse` responds with 503.',
        ),
      retention_days: z
        .number()
        .min(0)
        .default(0)
        .describe('Days for which records of requests are kept; 0: forever. Their sums stay.'),
      usage_days: z
        .number()
        .min(0)
        .default(0)
        .describe(
          'Days for which usage per hour and per end user is kept; 0: forever. Of older usage, totals stay.',
        ),
    }),
  )
    .prefault({})
    .describe('Records of requests, and sums over them.'),
  audit: inProgram(
    z.strictObject({
      retention_days: z
        .number()
        .min(0)
        .default(365)
        .describe('Days for which entries of the audit log are kept; 0: forever.'),
    }),
  )
    .prefault({})
    .describe('Log of changes by the management API and by commands.'),
  files: filesSchema,
  logging: inProgram(
    z.strictObject({
      level: z.enum(LOG_LEVELS).default('info').describe('Lowest level that is written.'),
      access: z
        .boolean()
        .default(false)
        .describe(
          'Write a line of JSON for each request, whatever the level; without prompts and responses.',
        ),
      content: z
        .union([z.boolean(), z.enum(['failures', 'all'])])
        .default(false)
        .transform((value) => (value === true ? ('all' as const) : value))
        .describe(
          'Store prompts and responses in the records, and the bodies sent by each side. `all` or true: for all requests; `failures`: for failed ones.',
        ),
      sample: z.int().min(1).default(1).describe('Store the content of one in this many requests.'),
      content_kb: z
        .number()
        .min(1)
        .max(16_384)
        .default(1024)
        .describe('Maximum stored size of each payload: a body sent by one side in a request or attempt.'),
      content_max_mb: z
        .number()
        .min(1)
        .default(1024)
        .describe('Maximum compressed size of all payloads. The oldest are deleted first.'),
      content_days: z
        .number()
        .min(0)
        .default(0)
        .describe('Days for which prompts, responses and payloads are kept; 0: as long as the records.'),
    }),
  )
    .prefault({})
    .describe('Log and content of records.'),
  metrics: metricsSchema,
  webhooks: webhooksSchema,
  alerts: alertsSchema,
  telemetry: telemetrySchema,
  compatibility: inProgram(
    z.strictObject({
      reasoning_content: z
        .boolean()
        .default(true)
        .describe('Repeat `reasoning` as `reasoning_content`, for clients that read only that name.'),
      open_responses: z
        .boolean()
        .default(false)
        .describe(
          'Stream raw reasoning as `response.reasoning.*` (Open Responses) instead of `response.reasoning_text.*` (OpenAI). A request with the header `openresponses-version` gets it anyway.',
        ),
      ignore_stream_options: z
        .boolean()
        .default(false)
        .describe('Drop `stream_options` of a request that does not stream, instead of refusing it (400).'),
    }),
  )
    .prefault({})
    .describe('Accommodations for clients that deviate from a protocol.'),
  idempotency: inProgram(
    z.strictObject({
      ttl_ms: milliseconds(3_600_000).describe('How long a complete response is replayed.'),
      max_mb: z
        .number()
        .min(0)
        .default(64)
        .describe(
          'MB of memory for all of them. The least recently used are evicted first. 0: none are kept.',
        ),
    }),
  )
    .prefault({})
    .describe('Responses to requests with an `Idempotency-Key`.'),
  streams: streamsSchema,
  background: backgroundSchema,
  jobs: jobsSchema,
  batches: batchesSchema,
  prompts: orNull(z.string().min(1)).describe(
    'Folder of prompt templates. Read at the start and at each reload.',
  ),
});

/** The same, converted for the program. */
export const configSchema = inProgram(file);

/** A validated file, converted for the program. */
export type ConfigFile = z.output<typeof configSchema>;

/** JSON Schema of the file as written, for editors and `docs/config.schema.json`. Takes about 50 ms. */
export function configJsonSchema(): JsonObject {
  return z.toJSONSchema(configSchema, { io: 'input' }) as JsonObject;
}

const sections = new Map<PropertyKey, SchemaNode>();

/** Schema of a path in the file, built only for its section. Undefined: no value is allowed there. */
export function configNodeAt(path: readonly PropertyKey[]): SchemaNode | undefined {
  const [name, ...rest] = path;
  if (name === undefined) return schemaNode(configJsonSchema());
  if (!isSection(name)) return undefined;
  let section = sections.get(name);
  if (!section) {
    section = schemaNode(z.toJSONSchema(file.shape[name], { io: 'input' }) as JsonObject);
    sections.set(name, section);
  }
  return schemaAt(section, rest);
}

function isSection(name: PropertyKey): name is keyof typeof file.shape {
  return Object.hasOwn(file.shape, name);
}
