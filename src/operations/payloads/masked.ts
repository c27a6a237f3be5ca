// Masks credentials in recorded payloads: by the names of headers and members, and by their exact values elsewhere.
import type { JsonValue } from '../../base/json/index.ts';
import { withoutCredentials } from '../../protocols/index.ts';
import {
  EchoMask,
  isCredentialHeader,
  secretsOfAsking,
  secretsOfHeaders,
} from '../../base/telemetry/echo-mask.ts';
import { MASK } from '../../base/telemetry/redact.ts';
import type { Payload } from './payload.ts';
import type { RequestRecorder, RecordedPayloads } from './request-recorder.ts';

/** Maximum bytes of a body in which members are masked by name, because larger ones take too long to parse. */
const MOST_READ = 4 * 1_048_576;

/** Headers that do not identify anyone. All others are masked, because proxies add identities under custom names. */
const KNOWN: ReadonlySet<string> = new Set([
  'accept',
  'accept-charset',
  'accept-encoding',
  'accept-language',
  'accept-ranges',
  'age',
  'allow',
  'alt-svc',
  'cache-control',
  'cf-cache-status',
  'cf-ray',
  'connection',
  'date',
  'etag',
  'expect',
  'expires',
  'host',
  'http-referer',
  'keep-alive',
  'last-modified',
  'location',
  'nel',
  'origin',
  'pragma',
  'priority',
  'referer',
  'report-to',
  'request-id',
  'retry-after',
  'server',
  'server-timing',
  'strict-transport-security',
  'te',
  'trailer',
  'traceparent',
  'tracestate',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'vary',
  'via',
  'warning',
  'x-app',
  'x-cloud-trace-context',
  'x-content-type-options',
  'x-correlation-id',
  'x-envoy-upstream-service-time',
  'x-frame-options',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-request-id',
  'x-robots-tag',
  'x-served-by',
  'x-should-retry',
  'x-title',
  'x-trace-id',
  'x-xss-protection',
]);
/** Name patterns of such headers. */
const KNOWN_FAMILY =
  /^(?:access-control|anthropic|content|cross-origin|openai|ratelimit|sec-ch-ua|sec-fetch|x-dragoman|x-goog|x-ratelimit|x-stainless)(?:-|$)/;
/** Names of values that identify a caller, in addition to credentials. */
const IDENTITY = /jwt|assertion|session|oidc|auth|identity|sig(?:nature)?$|^code$|^state$|credential/i;
/** JWT: three base64url parts, the first of which starts a JSON object (RFC 7519). */
const JWT = /\beyJ[\w-]{6,}\.[\w-]{6,}\.[\w-]*/g;

/** All recorded payloads, masked. */
export function maskedPayloads(recorder: RequestRecorder, mostBytes: number): readonly Payload[] {
  const json = (recorder.json ?? null) as JsonValue;
  const shown = withoutCredentials(json);
  const secrets = [...recorder.payloads.flatMap(secretsOf), ...differing(json, shown)];
  const mask = EchoMask.of(secrets);
  const apply = (text: string): string => (mask?.apply(text) ?? text).replaceAll(JWT, MASK);
  return recorder.payloads.map((recorded) => {
    const { stage, attempt, method, address, status, headers, hiddenHeaders, recording } = recorded;
    const came = recording.text();
    const own = stage === 'client_request' && shown !== json ? bytesOf(shown) : requestMasked(recorded, came);
    const kept = apply(own);
    return {
      stage,
      attempt,
      method,
      address: address === null ? null : apply(withoutQuerySecrets(address)),
      status,
      headers: headers.map(([name, value]) =>
        isShown(name) && !hiddenHeaders.has(name) ? [name, apply(withoutQuerySecrets(value))] : [name, MASK],
      ),
      bytes: recording.bytes,
      isCut: came.length < recording.bytes || kept.length > mostBytes,
      isMasked: kept !== came,
      reads: recording.reads,
      body: Buffer.from(kept.slice(0, mostBytes), 'latin1'),
    };
  });
}

function secretsOf({ stage, address, headers, hiddenHeaders }: RecordedPayloads): readonly string[] {
  const all = Object.fromEntries(headers);
  const hidden = [...hiddenHeaders].flatMap((name) => all[name] ?? []);
  if (stage === 'upstream_request' && address !== null) return [...secretsOfAsking(address, all), ...hidden];
  if (stage !== 'client_request') return [];
  const identities = headers.flatMap(([name, value]) => (IDENTITY.test(name) ? [value] : []));
  return [...secretsOfHeaders(all), ...identities];
}

function isShown(header: string): boolean {
  const name = header.toLowerCase();
  return !isCredentialHeader(name) && !IDENTITY.test(name) && (KNOWN.has(name) || KNOWN_FAMILY.test(name));
}

/** Masks an upstream request like the client's. It may also contain what the gateway added for servers and tools. */
function requestMasked({ stage }: RecordedPayloads, body: string): string {
  if (stage !== 'upstream_request' || body.length > MOST_READ || !/"(?:tools|mcp_servers)"/.test(body))
    return body;
  let json: JsonValue;
  try {
    json = JSON.parse(Buffer.from(body, 'latin1').toString()) as JsonValue;
  } catch {
    // The body was truncated.
    return body;
  }
  const shown = withoutCredentials(json);
  return shown === json ? body : bytesOf(shown);
}

function bytesOf(json: JsonValue): string {
  return Buffer.from(JSON.stringify(json)).toString('latin1');
}

/** Texts of `from` that differ in `to`, which has the same structure. */
function differing(from: JsonValue | undefined, to: JsonValue | undefined): readonly string[] {
  if (from === to) return [];
  if (typeof from === 'string') return [from];
  if (typeof from !== 'object' || from === null || typeof to !== 'object' || to === null) return [];
  return Object.entries(from).flatMap(([name, value]: [string, JsonValue | undefined]) =>
    differing(value, (to as Readonly<Record<string, JsonValue>>)[name]),
  );
}

/** Masks the query: Gemini clients send their key in it, and signed URLs their signature. */
function withoutQuerySecrets(address: string): string {
  return address.replace(/([?&]([^=&#]*)=)([^&#]*)/g, (whole, before: string, name: string) =>
    isCredentialHeader(name) || IDENTITY.test(name) ? before + MASK : whole,
  );
}
