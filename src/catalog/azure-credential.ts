// Microsoft Entra identity that gets tokens for Azure. Variables as in the Azure Identity libraries ("Use environment
// variables", "Workload identity", "Managed identity", learn.microsoft.com, 2026-11).
import { TEXTS } from '../canonical/index.ts';
import { Secret } from '../base/telemetry/secret.ts';
import type { TokenSource } from '../upstream/credential-source.ts';
import { type CredentialInput, INSTANCE } from './credential-input.ts';
import type { CredentialFacts } from './endpoint.ts';

/** Token audience of Azure OpenAI and Foundry ("Configure keyless authentication", 2026-11). */
const AUDIENCE = 'https://cognitiveservices.azure.com';
const AUTHORITY = 'https://login.microsoftonline.com';
const INSTANCE_URL = 'http://169.254.169.254';

/** The credential. Refuses if there is none, or it is incomplete. */
export function azureCredential(input: CredentialInput): CredentialFacts {
  const { preset, given, path, hostAccess, refuse } = input;
  const { environment } = hostAccess;
  const named = given.credentials?.reveal();
  if (named === INSTANCE) return identity(input);
  if (named !== undefined) return refuse(`${path}.credentials`, 'must be `instance` here');
  const secretText = given.azureApplication?.clientSecret?.reveal() ?? environment['AZURE_CLIENT_SECRET'];
  const tokenFile = environment['AZURE_FEDERATED_TOKEN_FILE'];
  if (secretText) {
    const origin = given.azureApplication?.clientSecret
      ? 'a client secret in the configuration'
      : 'AZURE_CLIENT_SECRET';
    return application(input, { secret: new Secret(secretText) }, origin);
  }
  if (tokenFile) return application(input, { tokenFile }, 'AZURE_FEDERATED_TOKEN_FILE');
  if (environment['IDENTITY_ENDPOINT'] && environment['IDENTITY_HEADER']) return identity(input);
  return refuse(
    `${path}.api_key`,
    `missing: set it here or in the environment variable ${preset.keyVariable ?? ''}, or set tenant_id, client_id and ` +
      'client_secret, or `credentials: instance` on a machine of Azure',
  );
}

function application(
  { given, path, hostAccess: { environment }, refuse }: CredentialInput,
  proof: Extract<TokenSource, { readonly from: 'azure-application' }>['proof'],
  origin: string,
): CredentialFacts {
  const missing = (key: string, variable: string): never =>
    refuse(`${path}.${key}`, TEXTS.missingSetting(variable));
  const tenantId =
    given.azureApplication?.tenantId ||
    environment['AZURE_TENANT_ID'] ||
    missing('tenant_id', 'AZURE_TENANT_ID');
  const clientId =
    given.azureApplication?.clientId ||
    environment['AZURE_CLIENT_ID'] ||
    missing('client_id', 'AZURE_CLIENT_ID');
  const authority = (environment['AZURE_AUTHORITY_HOST'] || AUTHORITY).replace(/\/+$/, '');
  const tokenUrl = `${authority}/${encodeURIComponent(tenantId)}/oauth2/v2.0/token`;
  return {
    kind: 'token',
    source: { from: 'azure-application', tokenUrl, clientId, proof, scope: `${AUDIENCE}/.default` },
    origin: `${origin}, as application ${clientId}`,
  };
}

/** Managed identity. App Service provides its endpoint and header; virtual machines use the metadata service. */
function identity({ given, hostAccess: { environment } }: CredentialInput): CredentialFacts {
  const endpoint = environment['IDENTITY_ENDPOINT'];
  const secret = environment['IDENTITY_HEADER'];
  const clientId = given.azureApplication?.clientId || environment['AZURE_CLIENT_ID'];
  const isApp = Boolean(endpoint && secret);
  const machine = environment['AZURE_POD_IDENTITY_AUTHORITY_HOST'] || INSTANCE_URL;
  const url = new URL(
    isApp ? `${endpoint}` : `${machine.replace(/\/+$/, '')}/metadata/identity/oauth2/token`,
  );
  url.searchParams.set('api-version', isApp ? '2019-08-01' : '2018-02-01');
  url.searchParams.set('resource', AUDIENCE);
  if (clientId) url.searchParams.set('client_id', clientId);
  const headers: Record<string, string | Secret> =
    secret && isApp ? { 'x-identity-header': new Secret(secret) } : { metadata: 'true' };
  const whose = clientId ? `identity ${clientId}` : TEXTS.managedIdentity;
  return {
    kind: 'token',
    source: { from: 'azure-identity', url: url.href, headers },
    origin: `${whose} of ${isApp ? 'the app' : 'the machine'}`,
  };
}
