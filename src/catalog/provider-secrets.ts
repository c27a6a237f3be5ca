// Secrets of a provider, and their sources. Shows nothing itself.
import { Secret } from '../base/telemetry/secret.ts';
import type { ActiveProvider } from './active-providers.ts';

/** Every secret that is sent to a provider, or with which its requests are signed. */
export function secretsOf({ protocols, networkRoute }: ActiveProvider): readonly Secret[] {
  const own = [...protocols.values()].flatMap(({ auth, credential }) => [
    ...secretsIn(auth?.key),
    ...secretsIn(credential),
  ]);
  return [...own, ...(networkRoute?.proxy?.secrets ?? [])];
}

/** Every secret in what a credential is made of. */
function secretsIn(value: unknown): readonly Secret[] {
  if (value instanceof Secret) return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(secretsIn) : [];
}

/** Source of the credential that all protocols of a provider share; nothing where it has none. */
export function originOf({ id, protocols }: ActiveProvider): readonly (readonly [string, string])[] {
  const [first] = protocols.values();
  return first?.credential ? [[id, first.credential.origin]] : [];
}
