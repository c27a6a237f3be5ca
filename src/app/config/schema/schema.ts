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
  database_url: orNull(secretOrEmpty()).describe('PostgreSQL address instead of the embedded database.'),
  secret: orNull(secretOrEmpty()).describe(
    'What keys are hashed with and reasoning is sealed with: 64 hexadecimal digits (`openssl rand -hex 32`). Default: the file `secret.key` of `data_dir`. With `database_url` it is needed, the same for all processes.',
  ),
  earlier_secrets: z
    .array(secretOrEmpty())
    .default([])
    .describe('Earlier values of `secret`, the latest first: what was made with them stays good.'),
  redis_url: orNull(secretOrEmpty()).describe(
    'Valkey or Redis address for counters shared between processes.',
  ),
  counters: countersSchema,
  limits: limitsSchema
    .default([])
    .describe(
      'What all requests together may use: each entry with one of `requests`, `tokens`, `concurrent`.',
    ),
  budgets: budgetsSchema.default([]).describe('How much money all requests together may cost.'),
  projects: projectsSchema.default({}),
  keys: z.array(keySchema).prefault([]).describe('API keys that are valid besides the stored ones.'),
  providers: z
    .record(z.string().regex(/^[\w.-]+$/, TEXTS.nameCharacters), providerSchema)
    .prefault({})
    .describe('Upstream services by name. A preset fills in what is absent; `false` switches it off.'),
  models: z
    .array(modelSchema)
    .prefault([])
    .describe('Models, where they differ from what the catalog knows.'),
  catalog: catalogSchema,
  aliases: z.record(z.string(), z.string()).default({}).describe('Other names for models: alias to id.'),
  routing: routingSchema,
  upstream: upstreamSchema,
  strict: z
    .boolean()
    .default(false)
    .describe(
      'Refuse (400) a request of which something would be dropped or changed. A key and the header `x-dragoman-strict` count before it.',
    ),
  fetch: z
    .strictObject({
      allow: z
        .array(z.string().min(1))
        .default([])
        .describe('`host` or `host:port` exempt from the rule that addresses in requests must be public.'),
    })
    .prefault({})
    .describe('Addresses that arrive in requests: images, files, MCP servers.'),
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
        .describe('Days that stored responses and files are kept; 0: until they are deleted.'),
      max_mb_per_key: z
        .number()
        .min(0)
        .default(1024)
        .describe('MB that one project may store, or a key without one (1 MB = 1,048,576 bytes).'),
    }),
  )
    .prefault({})
    .describe('What the gateway keeps for clients.'),
  ledger: inProgram(
    z.strictObject({
      durability: z
        .enum(['database', 'local'])
        .optional()
        .describe(
          'What the last byte of an answer waits for: that its record is in the database, or in the local journal. By default `local` with SQLite and `database` with PostgreSQL. A database that is slow or out of reach is waited for no longer than a second: then it is the journal.',
        ),
      spool_mb: z
        .number()
        .min(1)
        .default(128)
        .describe('MB of records that may wait in the journal for a database that takes none.'),
      when_full: z
        .enum(['serve', 'refuse'])
        .default('serve')
        .describe(
          'What becomes of requests while the journal is full or cannot be written: answered, with their records in the log alone, or refused with 503.',
        ),
      retention_days: z
        .number()
        .min(0)
        .default(0)
        .describe('Days that records of requests are kept; 0: for ever. Sums of them stay.'),
      usage_days: z
        .number()
        .min(0)
        .default(0)
        .describe(
          'Days that usage is kept by the hour and by end user; 0: for ever. Of what is older, the sums of all time stay.',
        ),
    }),
  )
    .prefault({})
    .describe('The records of requests, and the sums over them.'),
  audit: inProgram(
    z.strictObject({
      retention_days: z
        .number()
        .min(0)
        .default(365)
        .describe('Days that entries of the audit log are kept; 0: for ever.'),
    }),
  )
    .prefault({})
    .describe('Who changed what by the management API or by commands.'),
  files: filesSchema,
  logging: inProgram(
    z.strictObject({
      level: z.enum(LOG_LEVELS).default('info').describe('Least important message that is written.'),
      access: z
        .boolean()
        .default(false)
        .describe('Write a line of JSON for each request, whatever the level; without prompts and answers.'),
      content: z
        .union([z.boolean(), z.enum(['failures', 'all'])])
        .default(false)
        .transform((value) => (value === true ? ('all' as const) : value))
        .describe(
          'Keep prompts and answers in the records, and what each side sent. `all` or true: of all requests; `failures`: of those that failed.',
        ),
      sample: z
        .int()
        .min(1)
        .default(1)
        .describe('Of so many requests whose content would be kept, keep that of one.'),
      content_kb: z
        .number()
        .min(1)
        .max(16_384)
        .default(1024)
        .describe('What is kept of each payload: of what one side sent in a request or a try.'),
      content_max_mb: z
        .number()
        .min(1)
        .default(1024)
        .describe('What all payloads may occupy, compressed; the oldest are forgotten first.'),
      content_days: z
        .number()
        .min(0)
        .default(0)
        .describe('Days that prompts, answers and payloads are kept; 0: as long as the records.'),
    }),
  )
    .prefault({})
    .describe('The log and the records.'),
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
    .describe('What is done for clients that depart from a protocol.'),
  idempotency: inProgram(
    z.strictObject({
      ttl_ms: milliseconds(3_600_000).describe('How long a complete answer is given again.'),
      max_mb: z
        .number()
        .min(0)
        .default(64)
        .describe('MB of memory for all of them; the least recently used go first. 0: none is kept.'),
    }),
  )
    .prefault({})
    .describe('Answers to requests with an `Idempotency-Key`.'),
  streams: streamsSchema,
  background: backgroundSchema,
  jobs: jobsSchema,
  batches: batchesSchema,
  prompts: orNull(z.string().min(1)).describe(
    'Folder of prompt templates, read at the start and on every reload.',
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
