// AWS credentials that sign requests. Order and variables as in the "AWS SDKs and Tools Reference Guide", "Standardized
// credential providers" (2026-11). The instance metadata is only used if configured.
import { TEXTS } from '../canonical/index.ts';
import { Secret } from '../base/telemetry/secret.ts';
import type { AwsKeySource } from '../upstream/credential-source.ts';
import { profileKeys, type ProfileFiles, readProfiles } from './aws-profile.ts';
import { type CredentialInput, INSTANCE } from './credential-input.ts';
import type { CredentialFacts } from './endpoint.ts';
import { refuseMissing } from './provider-address.ts';

interface Found {
  readonly keys: AwsKeySource;
  readonly origin: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const INSTANCE_URL = 'http://169.254.169.254';
const INSTANCE_URL_6 = 'http://[fd00:ec2::254]';
const CONTAINER_URL = 'http://169.254.170.2';
/**
 * Hosts that may be queried for credentials without TLS: this one, and the agents of ECS and EKS ("Container credential
 * provider").
 */
const AGENTS = /^(localhost|127(\.\d+){3}|\[::1\]|169\.254\.170\.2|169\.254\.170\.23|\[fd00:ec2::23\])$/;

/** The credential. Refuses if there is none, or no region. */
export function awsCredential(input: CredentialInput): CredentialFacts {
  const { preset, values, path, refuse } = input;
  const found = ownKeys(input) ?? namedKeys(input) ?? keysAround(input);
  if (!found) {
    const variable = preset.keyVariable === null ? '' : ` or the environment variable ${preset.keyVariable}`;
    return refuse(
      path,
      `requires credentials: set api_key${variable}, or access_key_id and secret_access_key, or profile, or ` +
        '`credentials: instance` on a machine of AWS, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
    );
  }
  const region = values['region'];
  if (region === undefined) return refuseMissing(preset, values, path, refuse);
  return { kind: 'aws-sigv4', ...found, region, service: 'bedrock' };
}

/** Keys in the configuration. All come from one source, because a session token belongs to its key. */
function ownKeys({ given: { awsKeys }, path, refuse }: CredentialInput): Found | undefined {
  if (!awsKeys) return undefined;
  const { accessKeyId, secretAccessKey, sessionToken = null } = awsKeys;
  if (accessKeyId && !secretAccessKey)
    return refuse(path, 'secret_access_key is required with access_key_id');
  if (!accessKeyId || !secretAccessKey)
    return refuse(path, 'access_key_id is required with secret_access_key');
  return {
    keys: { from: 'given', accessKeyId, secretAccessKey, sessionToken },
    origin: 'keys in the configuration',
  };
}

/** Credentials named in the configuration. */
function namedKeys(input: CredentialInput): Found | undefined {
  const { given, path, refuse, hostAccess } = input;
  const named = given.credentials?.reveal();
  if (named === INSTANCE) return instance(hostAccess.environment);
  if (named !== undefined)
    return refuse(`${path}.credentials`, 'must be `instance`; to use a profile of AWS, set `profile`');
  return given.awsProfile === undefined ? undefined : profile(given.awsProfile, input);
}

/** Credentials from the environment. */
function keysAround(input: CredentialInput): Found | undefined {
  const { environment } = input.hostAccess;
  const fromVariables = variables(environment);
  if (fromVariables) return { keys: fromVariables, origin: 'AWS_ACCESS_KEY_ID' };
  const named = environment['AWS_PROFILE'];
  if (named) return profile(named, input);
  const tokenFile = environment['AWS_WEB_IDENTITY_TOKEN_FILE'];
  const roleArn = environment['AWS_ROLE_ARN'];
  if (tokenFile && roleArn) {
    const role = { roleArn, sessionName: sessionName(environment), url: stsUrl(input) };
    return {
      keys: { from: 'web-identity', ...role, tokenFile },
      origin: `AWS_WEB_IDENTITY_TOKEN_FILE, as ${roleArn}`,
    };
  }
  const agent = container(input);
  if (agent) return { keys: agent, origin: TEXTS.containerAgent };
  return profilesOf(input).has('default') ? profile('default', input) : undefined;
}

function variables(environment: Environment): AwsKeySource | undefined {
  const accessKeyId = environment['AWS_ACCESS_KEY_ID'];
  const secret = environment['AWS_SECRET_ACCESS_KEY'];
  const token = environment['AWS_SESSION_TOKEN'];
  if (!accessKeyId || !secret) return undefined;
  const sessionToken = token ? new Secret(token) : null;
  return { from: 'given', accessKeyId, secretAccessKey: new Secret(secret), sessionToken };
}

function instance(environment: Environment): Found & { readonly keys: AwsKeySource } {
  const usual =
    environment['AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE'] === 'IPv6' ? INSTANCE_URL_6 : INSTANCE_URL;
  const url = (environment['AWS_EC2_METADATA_SERVICE_ENDPOINT'] || usual).replace(/\/+$/, '');
  return { keys: { from: 'instance', url }, origin: 'the role of the EC2 instance' };
}

function container({ hostAccess, path, refuse }: CredentialInput): AwsKeySource | undefined {
  const { environment } = hostAccess;
  const relative = environment['AWS_CONTAINER_CREDENTIALS_RELATIVE_URI'];
  const url = relative ? CONTAINER_URL + relative : environment['AWS_CONTAINER_CREDENTIALS_FULL_URI'];
  if (!url) return undefined;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== 'https:' && !(parsed?.protocol === 'http:' && AGENTS.test(parsed.hostname)))
    return refuse(
      path,
      'AWS_CONTAINER_CREDENTIALS_FULL_URI must be an https address, or the address of this machine or of its container agent',
    );
  const token = environment['AWS_CONTAINER_AUTHORIZATION_TOKEN'];
  const tokenFile = environment['AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE'] || null;
  return { from: 'container', url, token: token ? new Secret(token) : null, tokenFile };
}

function profile(name: string, input: CredentialInput): Found {
  const { hostAccess, path, refuse } = input;
  const keys = profileKeys(name, {
    profiles: profilesOf(input),
    refuse: (message) => refuse(`${path}.profile`, message),
    sourceOf: {
      Environment: () => variables(hostAccess.environment),
      Ec2InstanceMetadata: () => instance(hostAccess.environment).keys,
      EcsContainer: () => container(input),
    },
    sessionName: sessionName(hostAccess.environment),
    stsUrl: stsUrl(input),
    region: input.values['region'] ?? '',
  });
  return { keys, origin: `profile ${name} of the shared files` };
}

function profilesOf({ hostAccess: { environment, readFile } }: CredentialInput): ProfileFiles {
  const home = environment['HOME'] || environment['USERPROFILE'];
  const read = (variable: string, name: string): string => {
    const path = environment[variable] || (home && `${home}/.aws/${name}`);
    try {
      return path ? readFile(path) : '';
    } catch {
      // A configured profile that is missing from both files is reported later.
      return '';
    }
  };
  return readProfiles(read('AWS_SHARED_CREDENTIALS_FILE', 'credentials'), read('AWS_CONFIG_FILE', 'config'));
}

function sessionName(environment: Environment): string {
  return environment['AWS_ROLE_SESSION_NAME'] || 'dragoman';
}

function stsUrl({ values, hostAccess: { environment } }: CredentialInput): string {
  return environment['AWS_ENDPOINT_URL_STS'] || `https://sts.${values['region'] ?? ''}.amazonaws.com/`;
}
