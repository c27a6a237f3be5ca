// What must not be shown under one configuration, as a function that masks it.
import type { Snapshot } from '../config/index.ts';
import { createRedactor, type Redact } from '../telemetry/redact.ts';

/** Every secret that an upstream could echo: its key, and what the operator put into headers of its own. */
export function snapshotRedactor(snapshot: Snapshot): Redact {
  const headers = Object.values(snapshot.config.providers).flatMap((provider) =>
    provider === false ? [] : Object.values(provider.headers ?? {}),
  );
  const { store } = snapshot.config.files;
  const stores = store ? [store.secretAccessKey] : [];
  return createRedactor(new Set([...snapshot.catalog.secrets(), ...headers, ...stores]));
}
