// Address of this machine's gateway, and credentials for commands that may read its data directory.
import { networkInterfaces } from 'node:os';
import { isLoopback, operatorToken, signInCode } from '../../../accounts/auth/index.ts';
import { asObject, asString, type JsonValue, parseJson } from '../../../base/json/index.ts';
import { GatewayError, TEXTS } from '../../../canonical/index.ts';
import { systemClock } from '../../../base/runtime/clock.ts';
import { askGateway, gatewayAt, type Answer, type Question } from './ask-gateway.ts';
import type { Arguments } from '../command.ts';
import { openStorage } from '../compose/open-storage.ts';

/** Lifetime of the link from `dragoman console`, in milliseconds. */
const LINK_MS = 60_000;

/**
 * `http://host:port` of the gateway for these arguments, or of `--url`.
 * @throws GatewayError `invalid_request` for an invalid address, ConfigError
 */
export function originFor(args: Arguments): string {
  const { host, port, tls } = args.load().config.server;
  // A gateway that listens on all addresses is reached through loopback.
  const own = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  const shown = own.includes(':') ? `[${own}]` : own;
  return gatewayAt(args.option('url') ?? `${tls ? 'https' : 'http'}://${shown}:${port}`);
}

/** Sends a request to a running gateway. */
export type Ask = (question: Omit<Question, 'key'>) => Promise<Answer>;

/**
 * Client of the gateway at an origin: with the key of `--key`, or with tokens that are only sent to a gateway on this
 * machine.
 * @throws GatewayError `authentication` for a remote gateway without a key
 */
export async function askerFor(args: Arguments, origin: string): Promise<Ask> {
  const key = args.option('key');
  if (key !== undefined) return (question) => askGateway(origin, { ...question, key });
  if (!isHere(new URL(origin).hostname, args.load().config.server.host))
    throw new GatewayError(
      'authentication',
      `${origin} is not on this machine; set an admin key of that gateway with --key`,
    );
  const secret = await operatorSecret(args);
  return (question) => {
    const { method, path } = question;
    const token = operatorToken({ method, url: origin + path }, secret, systemClock.wall());
    return askGateway(origin, { ...question, key: token });
  };
}

/**
 * JSON body of a successful response of the management API.
 * @throws GatewayError with the message of the response; if the key was refused, also with what to do
 */
export function successOf({ status, text }: Answer, origin: string): JsonValue | undefined {
  const body = parseJson(text);
  if (status === 200) return body;
  const message = asString(asObject(asObject(body)['error'])['message']) ?? TEXTS.statusOf(origin, status);
  if (status !== 401 && status !== 403) throw new GatewayError('invalid_request', message);
  throw new GatewayError(
    'authentication',
    `${message} The gateway at ${origin} was asked. Set another one with --port or --url, its data directory with --data-dir, or an admin key with --key.`,
  );
}

/** One-time code that signs in to the console within a minute. */
export async function ownCode(args: Arguments): Promise<string> {
  return signInCode(await operatorSecret(args), systemClock.wall() + LINK_MS);
}

async function operatorSecret(args: Arguments): Promise<Uint8Array> {
  const storage = await openStorage(
    args.load().config,
    (sentence) => void process.stderr.write(`${sentence}\n`),
  );
  try {
    return await storage.secret('operator');
  } finally {
    await storage.close();
  }
}

/** True for loopback, or the gateway's listen address if it belongs to this machine. */
function isHere(hostname: string, configured: string): boolean {
  if (isLoopback(hostname)) return true;
  const address = hostname.replace(/^\[|\]$/g, '');
  const own = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return address === configured && own.some((each) => each.address === address);
}
