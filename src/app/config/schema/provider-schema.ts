// The `providers` section of the configuration file: addresses, protocols and credentials. Presets supply defaults.
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
  .describe('Where the key goes, if not where the preset or the protocol puts it.');

const patience = (): z.ZodOptional<z.ZodNumber> => z.number().int().min(1).max(86_400_000).optional();

const protocolEntry = z.union([
  httpUrl().transform((baseUrl) => ({ baseUrl })),
  inProgram(
    z.strictObject({
      base_url: httpUrl().optional().describe('Address to which the protocol appends its path.'),
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
  ),
]);

const providerTls = z
  .strictObject({
    cert: z.string().min(1).optional().describe('Certificate that is shown to it, with those in between.'),
    key: secret(z.string().min(1)).optional().describe('Its private key.'),
    ca: z.string().min(1).optional().describe('Authorities by which it is checked, instead of all others.'),
  })
  .describe('Certificates; each the path of a PEM file, or the PEM itself.');

const fields = inProgram(
  z.strictObject({
    preset: z.string().optional().describe("Preset to start from when the provider's own name is not one."),
    api_key: secretOrEmpty()
      .optional()
      .describe("Key; `none` for a server that wants none. Default: the vendor's own environment variable."),
    base_url: httpUrl().optional().describe("Replaces the vendor's documented address."),
    protocols: z
      .partialRecord(protocolName, protocolEntry)
      .optional()
      .describe('Protocols served: an address each, or an object. This alone makes a provider.'),
    headers: z
      .record(z.string(), z.string().meta({ secret: true }))
      .optional()
      .describe('Headers added to every request.'),
    auth: auth.optional(),
    proxy: secretOrEmpty()
      .optional()
      .describe(
        'Address of the HTTP proxy through which it is reached, e.g. `http://user:password@proxy:3128`; `none`: straight. Default: as HTTPS_PROXY, HTTP_PROXY and NO_PROXY say.',
      ),
    tls: providerTls.optional(),
    timeouts: inProgram(
      z.strictObject({
        first_token_ms: patience().describe('Streamed calls: until the first content.'),
        response_ms: patience().describe("Other calls: until the answer's head."),
        total_ms: patience().describe('All attempts together, where it is among those that may be asked.'),
      }),
    )
      .optional()
      .describe(
        'In milliseconds, in place of `routing.timeouts`. Presets of your own machine wait 600000 for the first token and for an answer, and 3600000 in all. What a client asks for goes before, where it is shorter.',
      ),
    batch: batchRoute
      .optional()
      .describe(
        "Where lines of batches go. `vendor`: to the vendor's own batch API (Chat Completions, Responses, Messages and Gemini). Default: `requests`, asked as any other request.",
      ),
    batch_price_factor: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .describe(
        'Share of the ordinary price that they cost there. Default: 0.5 for OpenAI, Anthropic and Google AI Studio, else 1.',
      ),
    limits: limitsSchema
      .default([])
      .describe(
        'What the vendor lets us use; as `limits`. A full provider is passed over, as if it had said so itself.',
      ),
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
    secret_access_key: secretOrEmpty()
      .optional()
      .describe('AWS: the key that goes with it. Default: AWS_SECRET_ACCESS_KEY.'),
    session_token: secretOrEmpty()
      .optional()
      .describe('AWS: token of temporary keys. Default: AWS_SESSION_TOKEN.'),
    project: z.string().min(1).optional().describe('Google: project. Default: GOOGLE_CLOUD_PROJECT.'),
    location: z
      .string()
      .min(1)
      .optional()
      .describe('Google: place, e.g. `us-east5`. Default: GOOGLE_CLOUD_LOCATION, else `global`.'),
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
    tenant_id: z.string().min(1).optional().describe('Azure: directory. Default: AZURE_TENANT_ID.'),
    client_id: z
      .string()
      .min(1)
      .optional()
      .describe('Azure: application, or user-assigned identity. Default: AZURE_CLIENT_ID.'),
    client_secret: secretOrEmpty()
      .optional()
      .describe('Azure: secret of the application. Default: AZURE_CLIENT_SECRET.'),
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
