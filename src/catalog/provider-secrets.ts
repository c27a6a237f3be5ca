// Secrets of a provider, and where they come from.
import { Secret } from '../base/telemetry/secret.ts';
import type { ActiveProvider } from './active-providers.ts';

/** All secrets that are sent to a provider or sign its requests. */
export function secretsOf({ protocols, networkRoute }: ActiveProvider): readonly Secret[] {
  const own = [...protocols.values()].flatMap(({ auth, credential }) => [
    ...secretsIn(auth?.key),
    ...secretsIn(credential),
  ]);
  return [...own, ...(networkRoute?.proxy?.secrets ?? [])];
}

/** All secrets within a credential. */
function secretsIn(value: unknown): readonly Secret[] {
  if (value instanceof Secret) return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(secretsIn) : [];
}

/** Source of the credential that all protocols of a provider share; empty: none. */
export function originOf({ id, protocols }: ActiveProvider): readonly (readonly [string, string])[] {
  const [first] = protocols.values();
  return first?.credential ? [[id, first.credential.origin]] : [];
}
