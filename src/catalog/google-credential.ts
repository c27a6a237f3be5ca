// Google identity that gets access tokens. Sources and file kinds as in "How Application Default Credentials works"
// (docs.cloud.google.com) and AIP-4110 to AIP-4117 (2026-11). The metadata server is only used if configured.
import { TEXTS } from '../canonical/index.ts';
import type { JsonObject } from '../base/json/index.ts';
import { asObject, asString, isJsonObject, parseJson } from '../base/json/index.ts';
import { Secret } from '../base/telemetry/secret.ts';
import type { TokenSource } from '../upstream/credential-source.ts';
import { type CredentialInput, INSTANCE } from './credential-input.ts';
import type { CredentialFacts } from './endpoint.ts';
import { errorText } from '../base/lib/errors.ts';

const TOKEN_URL = 'https://oauth2.googleapis.com/token';
const EXCHANGE_URL = 'https://sts.googleapis.com/v1/token';
const METADATA_HOST = 'metadata.google.internal';
const VARIABLE = 'GOOGLE_APPLICATION_CREDENTIALS';

/** The credential. Refuses if there is none, and files of unsupported kinds. */
export function googleCredential(input: CredentialInput): CredentialFacts {
  const { given, path, hostAccess, refuse } = input;
  const { environment } = hostAccess;
  const where = `${path}.credentials`;
  const own = given.credentials?.reveal();
  if (own === INSTANCE) {
    const host = environment['GCE_METADATA_HOST'] || METADATA_HOST;
    return {
      kind: 'token',
      source: { from: 'google-instance', url: `http://${host}` },
      origin: 'the service account of the machine',
    };
  }
  const named = own ?? environment[VARIABLE];
  const text = named ? textOf(named, own !== undefined, input) : loginOf(input);
  if (text === undefined) {
    return refuse(
      where,
      `missing: set it to a credential file, here or in ${VARIABLE}, or to \`instance\` on a machine of Google, ` +
        'or set api_key to an access token',
    );
  }
  const file = asObject(parseJson(text));
  const kind = asString(file['type']) ?? '';
  const source = KINDS[kind]?.(file);
  if (!source)
    return refuse(
      where,
      `must be the key file of a service account (type, client_email and private_key) or another credential file ` +
        `of a supported type (${Object.keys(KINDS).join(', ')})`,
    );
  const place = own === undefined ? (named ? VARIABLE : TEXTS.gcloudLogin) : 'the configuration';
  return { kind: 'token', source, origin: `${whose(source)}, from ${place}` };
}

/**
 * Text of a credential file, given as a path or as the text itself.
 * @param isOwn true: named by the configuration, not by the environment
 */
function textOf(named: string, isOwn: boolean, { path, hostAccess, refuse }: CredentialInput): string {
  if (named.trimStart().startsWith('{')) return named;
  try {
    return isOwn ? hostAccess.readNamed(named) : hostAccess.readFile(named);
  } catch (error) {
    const reason = errorText(error);
    return refuse(`${path}.credentials`, TEXTS.cannotRead(named, reason));
  }
}

/** File written by `gcloud auth application-default login`. Undefined: none. */
function loginOf({ hostAccess: { environment, readFile } }: CredentialInput): string | undefined {
  const home = environment['HOME'];
  const folder = environment['CLOUDSDK_CONFIG'] || (home && `${home}/.config/gcloud`);
  try {
    return folder ? readFile(`${folder}/application_default_credentials.json`) : undefined;
  } catch {
    // There is no login.
    return undefined;
  }
}

/** File kinds. A reader returns undefined if a member is missing. */
const KINDS: Readonly<Record<string, (file: JsonObject) => TokenSource | undefined>> = {
  service_account: (file) => {
    const email = asString(file['client_email']);
    const privateKey = asString(file['private_key']);
    if (email === undefined || privateKey === undefined) return undefined;
    return {
      from: 'google-service-account',
      email,
      privateKey: new Secret(privateKey),
      privateKeyId: asString(file['private_key_id']) ?? null,
      tokenUrl: asString(file['token_uri']) ?? TOKEN_URL,
    };
  },
  authorized_user: (file) => {
    const clientId = asString(file['client_id']);
    const clientSecret = asString(file['client_secret']);
    const refreshToken = asString(file['refresh_token']);
    if (clientId === undefined || clientSecret === undefined || refreshToken === undefined) return undefined;
    return {
      from: 'google-user',
      clientId,
      clientSecret: new Secret(clientSecret),
      refreshToken: new Secret(refreshToken),
      tokenUrl: asString(file['token_uri']) ?? TOKEN_URL,
      quotaProject: asString(file['quota_project_id']) ?? null,
    };
  },
  external_account: (file) => {
    const audience = asString(file['audience']);
    const subjectTokenType = asString(file['subject_token_type']);
    const place = asObject(file['credential_source']);
    const path = asString(place['file']);
    const url = asString(place['url']);
    const subject =
      path === undefined ? url !== undefined && { url, headers: texts(place['headers']) } : { file: path };
    // Other subject tokens (AWS signatures, certificates, executables) are not supported.
    const isOther = ['environment_id', 'certificate', 'executable'].some((each) => place[each] !== undefined);
    if (audience === undefined || subjectTokenType === undefined || !subject || isOther) return undefined;
    const format = asObject(place['format']);
    return {
      from: 'google-federation',
      audience,
      subjectTokenType,
      subject,
      field: format['type'] === 'json' ? (asString(format['subject_token_field_name']) ?? null) : null,
      tokenUrl: asString(file['token_url']) ?? EXCHANGE_URL,
      impersonationUrl: asString(file['service_account_impersonation_url']) ?? null,
    };
  },
};

function texts(value: unknown): Record<string, string> {
  if (!isJsonObject(value)) return {};
  const entries = Object.entries(value).map(([name, text]) => [name.toLowerCase(), asString(text) ?? '']);
  return Object.fromEntries(entries) as Record<string, string>;
}

function whose(source: TokenSource): string {
  switch (source.from) {
    case 'google-service-account':
      return `service account ${source.email}`;
    case 'google-federation':
      return 'a federated identity';
    default:
      return 'a person';
  }
}
