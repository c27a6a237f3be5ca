// Address of the gateway of this machine, and the proof of a command that may read its data directory.
import { networkInterfaces } from 'node:os';
import { isLoopback, operatorToken, signInCode } from '../../../accounts/auth/index.ts';
import { GatewayError } from '../../../canonical/index.ts';
import { systemClock } from '../../../base/runtime/clock.ts';
import { askGateway, gatewayAt, type Answer, type Question } from './ask-gateway.ts';
import type { Arguments } from '../command.ts';
import { openStorage } from '../compose/open-storage.ts';

/** How long the link of `dragoman console` is good, in milliseconds. */
const LINK_MS = 60_000;

/**
 * `http://host:port` of the gateway that these arguments would start, or the one that `--url` names.
 * @throws GatewayError `invalid_request` for what is no address, ConfigError
 */
export function originFor(args: Arguments): string {
  const { host, port, tls } = args.load().config.server;
  // A gateway that listens on all addresses is reached by the machine's own.
  const own = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  const shown = own.includes(':') ? `[${own}]` : own;
  return gatewayAt(args.option('url') ?? `${tls ? 'https' : 'http'}://${shown}:${port}`);
}

/** Asks a running gateway. */
export type Ask = (question: Omit<Question, 'key'>) => Promise<Answer>;

/**
 * A client of the gateway at an origin: with the key of `--key`, or with tokens that only a gateway of this machine
 * gets.
 * @throws GatewayError `authentication` where a gateway elsewhere would be asked without a key
 */
export async function askerFor(args: Arguments, origin: string): Promise<Ask> {
  const key = args.option('key');
  if (key !== undefined) return (question) => askGateway(origin, { ...question, key });
  if (!isHere(new URL(origin).hostname, args.load().config.server.host))
    throw new GatewayError(
      'authentication',
      `${origin} is not on this machine: give the key of an admin of that gateway with --key`,
    );
  const secret = await operatorSecret(args);
  return (question) => {
    const { method, path } = question;
    const token = operatorToken({ method, url: origin + path }, secret, systemClock.wall());
    return askGateway(origin, { ...question, key: token });
  };
}

/** A code with which whoever has it signs in to the console once: good for a minute, and for nothing else. */
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

/** Loopback, or the address that the gateway listens on, where it is one of this machine. */
function isHere(hostname: string, configured: string): boolean {
  if (isLoopback(hostname)) return true;
  const address = hostname.replace(/^\[|\]$/g, '');
  const own = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return address === configured && own.some((each) => each.address === address);
}
