// Takes credentials out of what is kept: by the names of headers and members that hold them, and by their exact values
// wherever else these are repeated.
import type { JsonValue } from '../canonical/index.ts';
import { withoutCredentials } from '../protocols/index.ts';
import { EchoMask, isProving, secretsOfAsking, secretsOfHeaders } from '../telemetry/echo-mask.ts';
import { MASK } from '../telemetry/redact.ts';
import type { Payload } from './payload.ts';
import type { RequestTape, Taped } from './tape.ts';

/** A body in which no credentials are looked for by the names of members, since reading it takes too long, in bytes. */
const MOST_READ = 4 * 1_048_576;

/** Everything that was noted, without credentials. */
export function maskedPayloads(tape: RequestTape, mostBytes: number): readonly Payload[] {
  const json = (tape.json ?? null) as JsonValue;
  const shown = withoutCredentials(json);
  const secrets = [...tape.payloads.flatMap(secretsOf), ...differing(json, shown)];
  const mask = EchoMask.of(secrets);
  const apply = (text: string): string => mask?.apply(text) ?? text;
  return tape.payloads.map((taped) => {
    const { stage, attempt, method, address, status, headers, hiddenHeaders, recording } = taped;
    const came = recording.text();
    const own = stage === 'client_request' && shown !== json ? bytesOf(shown) : requestMasked(taped, came);
    const kept = apply(own);
    return {
      stage,
      attempt,
      method,
      address: address === null ? null : apply(withoutQuerySecrets(address)),
      status,
      headers: headers.map(([name, value]) =>
        isProving(name) || hiddenHeaders.has(name) ? [name, MASK] : [name, apply(value)],
      ),
      bytes: recording.bytes,
      isCut: came.length < recording.bytes || kept.length > mostBytes,
      isMasked: kept !== came,
      reads: recording.reads,
      body: Buffer.from(kept.slice(0, mostBytes), 'latin1'),
    };
  });
}

function secretsOf({ stage, address, headers, hiddenHeaders }: Taped): readonly string[] {
  const all = Object.fromEntries(headers);
  const hidden = [...hiddenHeaders].flatMap((name) => all[name] ?? []);
  if (stage === 'upstream_request' && address !== null) return [...secretsOfAsking(address, all), ...hidden];
  return stage === 'client_request' ? secretsOfHeaders(all) : [];
}

/** The body of a request to an upstream as its client's is: what the gateway has added of servers and tools is in it. */
function requestMasked({ stage }: Taped, body: string): string {
  if (stage !== 'upstream_request' || body.length > MOST_READ || !/"(?:tools|mcp_servers)"/.test(body))
    return body;
  let json: JsonValue;
  try {
    json = JSON.parse(Buffer.from(body, 'latin1').toString()) as JsonValue;
  } catch {
    // It was cut.
    return body;
  }
  const shown = withoutCredentials(json);
  return shown === json ? body : bytesOf(shown);
}

function bytesOf(json: JsonValue): string {
  return Buffer.from(JSON.stringify(json)).toString('latin1');
}

/** Texts of the first that are others in the second, which has the same form. */
function differing(from: JsonValue | undefined, to: JsonValue | undefined): readonly string[] {
  if (from === to) return [];
  if (typeof from === 'string') return [from];
  if (typeof from !== 'object' || from === null || typeof to !== 'object' || to === null) return [];
  return Object.entries(from).flatMap(([name, value]: [string, JsonValue | undefined]) =>
    differing(value, (to as Readonly<Record<string, JsonValue>>)[name]),
  );
}

/** Clients of Gemini write their key into the address. */
function withoutQuerySecrets(address: string): string {
  return address.replace(/([?&]([^=&#]*)=)([^&#]*)/g, (whole, before: string, name: string) =>
    isProving(name) ? before + MASK : whole,
  );
}
