// Redactor for the secrets of one configuration.
import { secretsOfAddress } from '../../../canonical/index.ts';
import type { Snapshot } from '../../config/index.ts';
import { configuredWebhooks } from './open-webhooks.ts';
import { createRedactor, type Redact } from '../../../base/telemetry/redact.ts';

/** All secrets that an upstream could echo: keys, operator-defined headers, and those of tools. */
export function snapshotRedactor(snapshot: Snapshot): Redact {
  const headers = Object.values(snapshot.config.providers).flatMap((provider) =>
    provider === false ? [] : Object.values(provider.headers ?? {}),
  );
  const { files, tools, upstream, telemetry } = snapshot.config;
  const { http, https } = upstream.network.proxies;
  const proxies = [...(http?.secrets ?? []), ...(https?.secrets ?? [])];
  const stores = files.store ? [files.store.secretAccessKey] : [];
  const engines = tools.webSearch.apiKey ? [tools.webSearch.apiKey] : [];
  const servers = Object.values(tools.mcp.servers).flatMap(({ url, headers: given, oauth }) => [
    ...secretsOfAddress(url),
    ...Object.values(given),
    ...(oauth ? [oauth.clientSecret, ...secretsOfAddress(oauth.tokenUrl)] : []),
  ]);
  const receivers = configuredWebhooks(snapshot.config).flatMap(({ url, secret, previousSecret }) => [
    secret,
    ...(previousSecret ? [previousSecret] : []),
    ...secretsOfAddress(url),
  ]);
  const collector = telemetry.otlp
    ? [...Object.values(telemetry.otlp.headers), ...secretsOfAddress(telemetry.otlp.endpoint)]
    : [];
  return createRedactor(
    new Set([
      ...snapshot.catalog.secrets(),
      ...headers,
      ...stores,
      ...engines,
      ...servers,
      ...proxies,
      ...receivers,
      ...collector,
    ]),
  );
}
