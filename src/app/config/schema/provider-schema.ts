// The `providers` section of the configuration file: addresses, protocols and credentials. Presets supply defaults.
import { TEXTS } from '../../../canonical/index.ts';
import { inProgram, secret, secretOrEmpty, quirksSchema } from '../../../catalog/schema/index.ts';
import { limitsSchema } from '../../../accounts/schema/index.ts';
import { z } from 'zod';
import type { ProviderConfig } from '../../../catalog/index.ts';
import type { LimitEntry } from '../../../accounts/limits/index.ts';
import { batchRoute, httpUrl, protocolName, unsupported } from './endpoint-parts-schema.ts';

const auth = z
  .strictObject({
    header: z.string().min(1).describe('Header that carries the key.'),
    prefix: z.string().default('').describe('Text before the key, e.g. `Bearer `.'),
  })
  .describe('Header for the key, instead of that of the preset or protocol.');

const patience = (): z.ZodOptional<z.ZodNumber> => z.number().int().min(1).max(86_400_000).optional();

const protocolEntry = z.union([
  httpUrl().transform((baseUrl) => ({ baseUrl })),
  inProgram(
    z.strictObject({
      base_url: httpUrl().optional().describe('Base URL, to which the protocol appends its path.'),
      faithful: z
        .boolean()
        .optional()
        .describe(
          'The server follows the protocol exactly, so that requests and responses can be relayed without translation.',
        ),
      quirks: quirksSchema.optional(),
      unsupported: unsupported.optional(),
      reasoning_format: z
        .string()
        .optional()
        .describe(
          'Format of opaque reasoning that the server accepts. Without a preset: that of the protocol.',
        ),
    }),
  ),
]);

const providerTls = z
  .strictObject({
    cert: z.string().min(1).optional().describe('Client certificate with its intermediates.'),
    key: secret(z.string().min(1)).optional().describe('Private key of the client certificate.'),
    ca: z.string().min(1).optional().describe('Trusted authorities, instead of the default ones.'),
  })
  .describe('Certificates; each the path of a PEM file, or the PEM itself.');

const fields = inProgram(
  z.strictObject({
    preset: z.string().optional().describe('Preset, if the name of the provider is not one.'),
    api_key: secretOrEmpty()
      .optional()
      .describe("API key; `none` for a server without keys. Default: the vendor's environment variable."),
    base_url: httpUrl().optional().describe("Base URL, instead of the vendor's documented one."),
    protocols: z
      .partialRecord(protocolName, protocolEntry)
      .optional()
      .describe('Supported protocols: a base URL each, or an object. Sufficient to define a provider.'),
    headers: z
      .record(z.string(), z.string().meta({ secret: true }))
      .optional()
      .describe('Headers added to every request.'),
    auth: auth.optional(),
    proxy: secretOrEmpty()
      .optional()
      .describe(
        'URL of an HTTP proxy, e.g. `http://user:password@proxy:3128`; `none`: no proxy. Default: HTTPS_PROXY, HTTP_PROXY and NO_PROXY.',
      ),
    tls: providerTls.optional(),
    timeouts: inProgram(
      z.strictObject({
        first_token_ms: patience().describe(TEXTS.untilFirstContent),
        response_ms: patience().describe(TEXTS.untilHead),
        total_ms: patience().describe('All attempts together, if the provider is one of the candidates.'),
      }),
    )
      .optional()
      .describe(
        'In milliseconds, instead of `routing.timeouts`. Presets of local servers wait 600000 for the first token and for a response, and 3600000 in total. A shorter timeout of the client has precedence.',
      ),
    batch: batchRoute
      .optional()
      .describe(
        "How batch lines are sent. `vendor`: with the vendor's batch API (Chat Completions, Responses, Messages and Gemini). Default: `requests`, as normal requests.",
      ),
    batch_price_factor: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .describe(
        'Batch price as a share of the normal price. Default: 0.5 for OpenAI, Anthropic and Google AI Studio, else 1.',
      ),
    limits: limitsSchema
      .default([])
      .describe(
        'Rate limits of your account at the vendor; as `limits`. A provider whose limits are exhausted is skipped.',
      ),
    resource: z
      .string()
      .min(1)
      .optional()
      .describe('Azure: name or URL of the resource. Default: AZURE_OPENAI_ENDPOINT.'),
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
      .describe('AWS: access key id for signing requests. Default: AWS_ACCESS_KEY_ID.'),
    secret_access_key: secretOrEmpty()
      .optional()
      .describe('AWS: secret access key. Default: AWS_SECRET_ACCESS_KEY.'),
    session_token: secretOrEmpty()
      .optional()
      .describe('AWS: session token of temporary credentials. Default: AWS_SESSION_TOKEN.'),
    project: z.string().min(1).optional().describe('Google: project. Default: GOOGLE_CLOUD_PROJECT.'),
    location: z
      .string()
      .min(1)
      .optional()
      .describe('Google: location, e.g. `us-east5`. Default: GOOGLE_CLOUD_LOCATION, else `global`.'),
    credentials: secretOrEmpty()
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
    tenant_id: z.string().min(1).optional().describe('Azure: tenant id. Default: AZURE_TENANT_ID.'),
    client_id: z
      .string()
      .min(1)
      .optional()
      .describe('Azure: client id of the application or user-assigned identity. Default: AZURE_CLIENT_ID.'),
    client_secret: secretOrEmpty()
      .optional()
      .describe('Azure: client secret of the application. Default: AZURE_CLIENT_SECRET.'),
  }),
);

/** Groups the members of one account: AWS keys, or an Entra application. Absent if none is given. */
function toProvider(
  given: z.output<typeof fields>,
): ProviderConfig & { readonly limits: readonly LimitEntry[] } {
  const { proxy, credentials, resource, apiVersion, region, project, location, ...account } = given;
  const { accessKeyId, secretAccessKey, sessionToken, profile, ...entra } = account;
  const { tenantId, clientId, clientSecret, ...provider } = entra;
  const hasKeys = accessKeyId !== undefined || secretAccessKey !== undefined;
  const hasApplication = tenantId !== undefined || clientId !== undefined || clientSecret !== undefined;
  return {
    ...provider,
    proxy: proxy ?? undefined,
    credentials: credentials ?? undefined,
    settings: { resource, apiVersion, region, project, location },
    awsKeys: hasKeys
      ? {
          accessKeyId,
          secretAccessKey: secretAccessKey ?? undefined,
          sessionToken: sessionToken ?? undefined,
        }
      : undefined,
    awsProfile: profile,
    azureApplication: hasApplication
      ? { tenantId, clientId, clientSecret: clientSecret ?? undefined }
      : undefined,
  };
}

/** One upstream service; `false` disables a preset. */
export const providerSchema = z.union([z.literal(false), fields.transform(toProvider)]);
