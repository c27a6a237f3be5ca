// Profiles in AWS's shared files. Source: "Shared config and credentials files" and "Assume role credential provider"
// (AWS SDKs and Tools Reference Guide, 2026-11).
import { Secret } from '../base/telemetry/secret.ts';
import type { AwsKeySource } from '../upstream/credential-source.ts';

/** Settings by profile name. */
export type ProfileFiles = ReadonlyMap<string, Readonly<Record<string, string>>>;

export interface ProfileInput {
  readonly profiles: ProfileFiles;
  readonly refuse: (message: string) => never;
  /** Sources for `credential_source`. Undefined: not available on this machine. */
  readonly sourceOf: Readonly<Record<string, () => AwsKeySource | undefined>>;
  readonly sessionName: string;
  readonly stsUrl: string;
  readonly region: string;
}

/**
 * Parses both files. The credentials file takes precedence.
 * @param credentials text of the file whose sections are profile names
 * @param config text of the file whose sections are `profile <name>`, or `default`
 */
export function readProfiles(credentials: string, config: string): ProfileFiles {
  const profiles = new Map<string, Record<string, string>>();
  for (const [section, settings] of [...sections(config, true), ...sections(credentials, false)])
    profiles.set(section, { ...profiles.get(section), ...settings });
  return profiles;
}

/** Credentials of a profile. @param through profiles that led here, to detect cycles */
export function profileKeys(
  name: string,
  input: ProfileInput,
  through: readonly string[] = [],
): AwsKeySource {
  const { profiles, refuse, sourceOf, sessionName, stsUrl, region } = input;
  const profile = profiles.get(name);
  if (!profile) return refuse(`there is no profile "${name}" in the shared files of AWS`);
  const roleArn = profile['role_arn'];
  const own = ownKeys(profile);
  // A profile may use its own keys to assume its role.
  if (roleArn === undefined || through.includes(name)) {
    if (own && (roleArn === undefined || through.at(-1) === name)) return own;
    if (through.includes(name)) return refuse(`the profile "${name}" refers to itself`);
    const unknown = ['credential_process', 'sso_session', 'sso_start_url'].find(
      (each) => profile[each] !== undefined,
    );
    return refuse(
      unknown === undefined
        ? `the profile "${name}" has neither keys nor a role`
        : `the profile "${name}" uses ${unknown}, which is not supported; set its keys in the environment`,
    );
  }
  const role = { roleArn, sessionName: profile['role_session_name'] ?? sessionName, url: stsUrl };
  const tokenFile = profile['web_identity_token_file'];
  if (tokenFile !== undefined) return { from: 'web-identity', ...role, tokenFile };
  const source = profile['source_profile'];
  const named = profile['credential_source'] ?? '';
  const base = source === undefined ? sourceOf[named]?.() : profileKeys(source, input, [...through, name]);
  if (!base)
    return refuse(`the profile "${name}" has a role, but no usable source_profile or credential_source`);
  return { from: 'role', ...role, externalId: profile['external_id'] ?? null, base, region };
}

function ownKeys(profile: Readonly<Record<string, string>>): AwsKeySource | undefined {
  const accessKeyId = profile['aws_access_key_id'];
  const secret = profile['aws_secret_access_key'];
  const token = profile['aws_session_token'];
  if (!accessKeyId || !secret) return undefined;
  const sessionToken = token ? new Secret(token) : null;
  return { from: 'given', accessKeyId, secretAccessKey: new Secret(secret), sessionToken };
}

/** Indented lines belong to nested settings, which are not needed. */
function sections(text: string, isConfig: boolean): [string, Record<string, string>][] {
  const found: [string, Record<string, string>][] = [];
  for (const line of text.split(/\r?\n/)) {
    const [, header] = /^\[([^\]]+)\]/.exec(line) ?? [];
    if (header !== undefined) {
      const [, name = isConfig && header.trim() !== 'default' ? undefined : header.trim()] =
        (isConfig ? /^\s*profile\s+["']?(.+?)["']?\s*$/.exec(header) : null) ?? [];
      // Other sections (`sso-session`, `services`) are parsed but not used.
      found.push([name ?? `[${header}]`, {}]);
      continue;
    }
    const [, key, value] = /^([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    const settings = found.at(-1)?.[1];
    if (settings && key !== undefined && value !== undefined) settings[key.toLowerCase()] = value;
  }
  return found;
}
