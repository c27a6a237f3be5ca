// The configuration file: every key, its type, its default and its meaning. The reference page and the JSON
// Schema are generated from here. Says nothing of files, environment or reloading.
import { z } from 'zod';
import { PARAMETERS } from '../canonical/index.ts';
import { PROTOCOL_NAMES } from '../protocols/index.ts';
import type { JsonObject, Parameter } from '../canonical/index.ts';
import { LOG_LEVELS } from '../telemetry/log.ts';
import { catalogSchema } from './catalog-schema.ts';
import { filesSchema } from './files-schema.ts';
import { mcpSchema } from './mcp-schema.ts';
import { quirksSchema } from './quirks-schema.ts';
import { milliseconds, routingDefaultsSchema, routingSchema } from './routing-schema.ts';
import { schemaAt, schemaNode } from './schema-node.ts';
import type { SchemaNode } from './schema-node.ts';
import { serverSchema } from './server-schema.ts';
import { upstreamSchema } from './upstream-schema.ts';
import { webSearchSchema } from './web-search-schema.ts';

const secret = (): z.ZodString => z.string().meta({ secret: true });
const url = (): z.ZodString => z.string().regex(/^https?:\/\/[^\s/]+/, 'must be an http or https address');
const tokens = (): z.ZodNumber => z.number().int().min(1);
const quality = z.number().min(0).max(1);
const dollars = (): z.ZodNumber => z.number().min(0);

const protocolName = z
  .enum(PROTOCOL_NAMES as readonly [string, ...string[]])
  .describe(`How the endpoint is spoken to: ${PROTOCOL_NAMES.join(', ')}.`);
const parameterNames = Object.values(PARAMETERS) as readonly string[] as readonly [string, ...string[]];
const unsupported = z
  .array(z.enum(parameterNames))
  .describe('Parameters the server refuses: removed from requests, and reported.');
const reasoning = z
  .enum(['none', 'effort', 'budget', 'both'])
  .describe('How the model is told to reason. Known families need no entry.');

const price = z
  .strictObject({
    input: dollars().optional().describe('Uncached input.'),
    output: dollars().optional().describe('Output, reasoning included.'),
    cache_read: dollars().optional().describe('Input read from a prompt cache.'),
    cache_write_5m: dollars().optional().describe('Input written to a cache for five minutes.'),
    cache_write_1h: dollars().optional().describe('Input written to a cache for an hour.'),
    input_audio: dollars().optional().describe('Audio input.'),
    output_audio: dollars().optional().describe('Audio output.'),
    request: dollars().optional().describe('USD per request.'),
    tools: z.record(z.string(), dollars()).optional().describe('USD per call of a hosted tool, by name.'),
  })
  .describe(
    'USD per million tokens; replaces the known price as a whole. What is absent is unknown, not free.',
  );

const auth = z
  .strictObject({
    header: z.string().min(1).describe('Header that carries the key.'),
    prefix: z.string().default('').describe('Text before the key, e.g. `Bearer `.'),
  })
  .describe('Where the key goes, if not where the preset or the protocol puts it.');

const protocolEntry = z.union([
  url(),
  z.strictObject({
    base_url: url().optional().describe('Address to which the protocol appends its path.'),
    faithful: z
      .boolean()
      .optional()
      .describe('The server follows the protocol to the letter, so answers may be relayed unread.'),
    quirks: quirksSchema.optional(),
    unsupported: unsupported.optional(),
    reasoning_format: z
      .string()
      .optional()
      .describe(
        'Format of opaque reasoning that the server reads back. Without a preset: that of the protocol itself.',
      ),
  }),
]);

const providerTls = z
  .strictObject({
    cert: z.string().min(1).optional().describe('Certificate that is shown to it, with those in between.'),
    key: secret().min(1).optional().describe('Its private key.'),
    ca: z.string().min(1).optional().describe('Authorities by which it is checked, instead of all others.'),
  })
  .describe('Certificates; each the path of a PEM file, or the PEM itself.');

const provider = z.union([
  z.literal(false),
  z.strictObject({
    preset: z.string().optional().describe("Preset to start from when the provider's own name is not one."),
    api_key: secret()
      .optional()
      .describe("Key; `none` for a server that wants none. Default: the vendor's own environment variable."),
    base_url: url().optional().describe("Replaces the vendor's documented address."),
    protocols: z
      .partialRecord(z.enum(PROTOCOL_NAMES as readonly [string, ...string[]]), protocolEntry)
      .optional()
      .describe('Protocols served: an address each, or an object. This alone makes a provider.'),
    headers: z.record(z.string(), secret()).optional().describe('Headers added to every request.'),
    auth: auth.optional(),
    proxy: secret()
      .optional()
      .describe(
        'Address of the HTTP proxy through which it is reached, e.g. `http://user:password@proxy:3128`; `none`: straight. Default: as HTTPS_PROXY, HTTP_PROXY and NO_PROXY say.',
      ),
    tls: providerTls.optional(),
    resource: z
      .string()
      .min(1)
      .optional()
      .describe('Azure: name of the resource, or its whole address. Default: AZURE_OPENAI_ENDPOINT.'),
    api_version: z
      .string()
      .min(1)
      .optional()
      .describe('Azure, deployments API: dated version. Default: OPENAI_API_VERSION.'),
    region: z.string().min(1).optional().describe('AWS: region, e.g. `us-east-1`. Default: AWS_REGION.'),
    access_key_id: z
      .string()
      .min(1)
      .optional()
      .describe('AWS: id of an access key, with which requests are signed. Default: AWS_ACCESS_KEY_ID.'),
    secret_access_key: secret()
      .optional()
      .describe('AWS: the key that goes with it. Default: AWS_SECRET_ACCESS_KEY.'),
    session_token: secret().optional().describe('AWS: token of temporary keys. Default: AWS_SESSION_TOKEN.'),
    project: z.string().min(1).optional().describe('Google: project. Default: GOOGLE_CLOUD_PROJECT.'),
    location: z
      .string()
      .min(1)
      .optional()
      .describe('Google: place, e.g. `us-east5`. Default: GOOGLE_CLOUD_LOCATION, else `global`.'),
    credentials: secret()
      .optional()
      .describe(
        'Google: a credential file, its path or its text. Default: GOOGLE_APPLICATION_CREDENTIALS. ' +
          'AWS, Azure, Google: `instance` for the identity of the machine or app.',
      ),
    profile: z
      .string()
      .min(1)
      .optional()
      .describe('AWS: profile of the shared files (`~/.aws`). Default: AWS_PROFILE.'),
    tenant_id: z.string().min(1).optional().describe('Azure: directory. Default: AZURE_TENANT_ID.'),
    client_id: z
      .string()
      .min(1)
      .optional()
      .describe('Azure: application, or user-assigned identity. Default: AZURE_CLIENT_ID.'),
    client_secret: secret()
      .optional()
      .describe('Azure: secret of the application. Default: AZURE_CLIENT_SECRET.'),
  }),
]);

const endpoint = z.strictObject({
  provider: z.string().describe('Name of a provider that is on.'),
  model: z
    .string()
    .min(1)
    .optional()
    .describe("The server's own name of the model. Default: the model id without its prefix."),
  protocol: protocolName.optional(),
  name: z
    .string()
    .regex(/^[\w.-]+$/, 'may hold letters, digits, `.`, `_` and `-`')
    .optional()
    .describe('Makes the slug `provider/name`, by which requests select this endpoint.'),
  price: price.optional(),
  context_length: tokens().optional().describe('Tokens.'),
  max_output_tokens: tokens().optional().describe('Tokens.'),
  reasoning: reasoning.optional(),
  quality: quality
    .optional()
    .describe("Operator's score of this endpoint from 0 to 1. Default: that of the model."),
  quirks: quirksSchema.optional(),
  unsupported: unsupported.optional(),
});

const model = z.strictObject({
  id: z
    .string()
    .min(1)
    .max(200)
    .regex(/^\S+$/, 'may not hold spaces')
    .describe('What clients ask for, `<provider>/<name>`.'),
  display_name: z.string().optional().describe('Shown in model lists.'),
  context_length: tokens().optional().describe('Tokens.'),
  max_output_tokens: tokens().optional().describe('Tokens.'),
  reasoning: reasoning.optional(),
  quality: quality
    .optional()
    .describe("Operator's score from 0 to 1, for `primary_factor: quality` and the choice among models."),
  input_modalities: z
    .array(z.enum(['text', 'image', 'file', 'audio', 'video']))
    .optional()
    .describe('What it reads.'),
  output_modalities: z
    .array(z.enum(['text', 'image', 'file', 'audio', 'video', 'embeddings']))
    .optional()
    .describe('What it makes. Absent: `embeddings` where its name says so, else text.'),
  price: price.optional(),
  endpoints: z
    .array(endpoint)
    .default([])
    .describe('Where it is served, in order of preference. Default: the provider that the id names.'),
});

const key = z.strictObject({
  name: z.string().min(1).describe('Name in records and logs.'),
  key: secret().describe('The key itself. An entry with an empty key is ignored.'),
  models: z
    .array(z.string())
    .optional()
    .describe('Models it may use; `*` stands for any characters. Default: all.'),
  expires: z.iso
    .date()
    .or(z.iso.datetime({ offset: true }))
    .optional()
    .describe('Date or time after which it is refused (ISO 8601).'),
  log_content: z
    .boolean()
    .optional()
    .describe('Keep prompts and answers in its records. Default: `logging.content`.'),
  strict: z
    .boolean()
    .optional()
    .describe('Refuse its requests of which something would be dropped or changed. Default: `strict`.'),
  routing: routingDefaultsSchema
    .optional()
    .describe('Used when its requests say nothing, over `routing.default`, whose members it takes.'),
});

/** The whole file. Every object refuses keys it does not know. */
export const configSchema = z.strictObject({
  $schema: z.string().optional().describe('For editors; ignored.'),
  server: serverSchema,
  data_dir: z.string().min(1).default('./data').describe('Folder of the embedded database and its secrets.'),
  database_url: secret().optional().describe('PostgreSQL address instead of the embedded database.'),
  redis_url: secret().optional().describe('Valkey or Redis address for counters shared between processes.'),
  keys: z.array(key).default([]).describe('API keys that are valid besides the stored ones.'),
  providers: z
    .record(z.string().regex(/^[\w.-]+$/, 'may hold letters, digits, `.`, `_` and `-`'), provider)
    .default({})
    .describe('Upstream services by name. A preset fills in what is absent; `false` switches it off.'),
  models: z.array(model).default([]).describe('Models, where they differ from what the catalog knows.'),
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
  tools: z
    .strictObject({
      web_search: webSearchSchema,
      mcp: mcpSchema,
    })
    .prefault({})
    .describe('Tools that the gateway runs for models.'),
  state: z
    .strictObject({
      retention_days: z
        .number()
        .min(0)
        .default(30)
        .describe('Days that stored responses and files are kept; 0: until they are deleted.'),
      max_mb_per_key: z
        .number()
        .min(0)
        .default(1024)
        .describe('MB that one key may store (1 MB = 1,048,576 bytes).'),
    })
    .prefault({})
    .describe('What the gateway keeps for clients.'),
  files: filesSchema,
  logging: z
    .strictObject({
      level: z.enum(LOG_LEVELS).default('info').describe('Least important message that is written.'),
      content: z.boolean().default(false).describe('Keep prompts and answers in the records.'),
    })
    .prefault({})
    .describe('The log and the records.'),
  compatibility: z
    .strictObject({
      reasoning_content: z
        .boolean()
        .default(true)
        .describe('Repeat `reasoning` as `reasoning_content`, for clients that read only that name.'),
      ignore_stream_options: z
        .boolean()
        .default(false)
        .describe('Drop `stream_options` of a request that does not stream, instead of refusing it (400).'),
    })
    .prefault({})
    .describe('What is done for clients that depart from a protocol.'),
  idempotency: z
    .strictObject({
      ttl_ms: milliseconds(3_600_000).describe('How long a complete answer is given again.'),
      max_mb: z
        .number()
        .min(0)
        .default(64)
        .describe('MB of memory for all of them; the least recently used go first. 0: none is kept.'),
    })
    .prefault({})
    .describe('Answers to requests with an `Idempotency-Key`.'),
  prompts: z
    .string()
    .min(1)
    .optional()
    .describe('Folder of prompt templates, read at the start and on every reload.'),
});

/** What the schema makes of a file: defaults filled in, names as in the file. */
export type ConfigFile = z.output<typeof configSchema>;

/** JSON Schema of the file as a person writes it: for editors and for `docs/config.schema.json`. Takes some 50 ms. */
export function configJsonSchema(): JsonObject {
  return z.toJSONSchema(configSchema, { io: 'input' }) as JsonObject;
}

const sections = new Map<PropertyKey, SchemaNode>();

/** What may stand at a path of the file; undefined where nothing may. Of the file only the section is looked at. */
export function configNodeAt(path: readonly PropertyKey[]): SchemaNode | undefined {
  const [name, ...rest] = path;
  if (name === undefined) return schemaNode(configJsonSchema());
  if (!isSection(name)) return undefined;
  let section = sections.get(name);
  if (!section) {
    section = schemaNode(z.toJSONSchema(configSchema.shape[name], { io: 'input' }) as JsonObject);
    sections.set(name, section);
  }
  return schemaAt(section, rest);
}

function isSection(name: PropertyKey): name is keyof typeof configSchema.shape {
  return Object.hasOwn(configSchema.shape, name);
}

const byReportName = new Map<string, Parameter>(
  (Object.keys(PARAMETERS) as Parameter[]).map((parameter) => [PARAMETERS[parameter], parameter]),
);

/** The parameter that a name in the file stands for (`top_p`). */
export function parameterOf(name: string): Parameter {
  const parameter = byReportName.get(name);
  if (!parameter) throw new TypeError(`no parameter ${name}`);
  return parameter;
}
